"""Finding skills in workspaces of 100, 1,000 and 10,000: cold, unchanged, and with `goalwright skills list`.

Floor: reading the files, and `python -c pass` for the command.

    python -m bench.discovery [FOLDER [COUNT]]

The SKILL.md files of FOLDER, of the corpus, or of the library that ships are copied under new names.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from bench.harness import command
from bench.harness.machine import ROOT
from bench.harness.peers import clean
from bench.harness.result import Benchmark, Column, Findings, Options, Table, cells
from bench.harness.timing import alternate, elapsed, spent, time_process
from goalwright_skills.discovery.registry import Registry

_NAME = re.compile(rb"^name:.*$", re.MULTILINE)
READING, COLD, CHECKED = "reading the files", "goalwright, cold", "goalwright, checking that nothing changed"
PASS, LIST = "python -c pass", "goalwright skills list"
SIZES = (100, 1_000, 10_000)


def run(options: Options, sizes: tuple[int, ...] = SIZES) -> Findings:
    """Measure each size."""
    folder = options.corpus or ROOT / "skills" / "goalwright_skills" / "library"
    sources = [path.read_bytes() for path in sorted(folder.rglob("SKILL.md"))]
    sizes = (50,) if options.quick else sizes
    rounds = 1 if options.quick else 3
    rows: dict[str, list[list[float]]] = {name: [] for name in (READING, COLD, CHECKED, PASS, LIST)}
    for count in sizes:
        with tempfile.TemporaryDirectory() as name:
            for subject, samples in measured(Path(name), sources, count, rounds).items():
                rows[subject].append([1000 * sample for sample in samples])
    columns = tuple(Column(f"{count:,} skills", "ms", ratio=True) for count in sizes)
    tables = tuple(
        Table(title, columns, {name: cells(*rows[name]) for name in names}, names[0])
        for title, names in (("In the process", (READING, COLD, CHECKED)), ("The command, warm", (PASS, LIST)))
    )
    return Findings(tables)


def measured(folder: Path, sources: list[bytes], count: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each subject in a workspace of `count` skills."""
    workspace, home = folder / "work", folder / "home"
    paths = [workspace / f"skills/g{i // 100}/s{i}/SKILL.md" for i in range(count)]
    for i, path in enumerate(paths):
        path.parent.mkdir(parents=True)
        path.write_bytes(_NAME.sub(b"name: s%d" % i, sources[i % len(sources)], count=1))
    time.sleep(0.1)  # a file written just now counts as changed
    registries: list[Registry] = []

    def scan() -> None:
        registries.append(Registry(workspace, env={}, home=home, cache=folder / f"cache{len(registries)}"))
        registries[-1].scan()

    samples = alternate({READING: lambda: [path.read_bytes() for path in paths], COLD: scan}, rounds)
    assert not registries[-1].refresh()
    samples[CHECKED] = [spent(registries[-1].refresh) for _ in range(rounds)]
    env = clean(home) | {"PYTHONPATH": str(ROOT)}
    listing = [sys.executable, "-m", "goalwright", "skills", "list", "--workspace", str(workspace)]
    start = partial(subprocess.run, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    start(listing)
    commands = {PASS: partial(start, [sys.executable, "-c", "pass"]), LIST: partial(start, listing)}
    samples |= alternate({name: partial(time_process, work) for name, work in commands.items()}, 3 * rounds)
    return {name: elapsed(timings) for name, timings in samples.items()}


BENCHMARK = Benchmark(
    "discovery",
    "Finding the skills of a workspace: cold, warm, and as a command.",
    "Reading the files; `python -c pass` for the command.",
    (),
    run,
)


def main() -> int:
    """As `python -m bench.discovery [FOLDER [COUNT]]`."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    sizes = (int(words[1]),) if len(words) > 1 else SIZES

    def with_folder(options: Options) -> Findings:
        corpus = Path(words[0]) if words else options.corpus
        return run(Options(options.quick, corpus, options.peers), sizes)

    return command.run_single(BENCHMARK, with_folder)


if __name__ == "__main__":
    sys.exit(main())
