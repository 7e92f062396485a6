"""The time to find skills, against just reading their files: `python -m bench.discovery FOLDER [COUNT]`.

The SKILL.md files in FOLDER, at any depth, are copied repeatedly under different names into a workspace of COUNT
skills (5,000 by default).
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from skills.discovery.registry import Registry

_NAME = re.compile(rb"^name:.*$", re.MULTILINE)


def medians(rounds: int, commands: list[list[str]], env: dict[str, str]) -> list[float]:
    """The median time of each command; they take turns, so that load on the machine affects all alike."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, its in zip(commands, times, strict=True):
            started = time.perf_counter()
            subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            its.append(time.perf_counter() - started)
    return [statistics.median(its) for its in times]


def main(folder: Path, count: int) -> None:
    """Measure and print."""
    sources = [path.read_bytes() for path in sorted(folder.rglob("SKILL.md"))]
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name)
        paths = [workspace / f"skills/g{i // 100}/s{i}/SKILL.md" for i in range(count)]
        for i, path in enumerate(paths):
            path.parent.mkdir(parents=True)
            path.write_bytes(_NAME.sub(b"name: s%d" % i, sources[i % len(sources)], count=1))
        time.sleep(0.1)
        reading, cold = [], []
        for round_ in range(3):
            started = time.perf_counter()
            for path in paths:
                path.read_bytes()
            reading.append(time.perf_counter() - started)
            cache = workspace / f"cache{round_}"
            started = time.perf_counter()
            registry = Registry(workspace, env={}, home=workspace / "home", cache=cache)
            registry.scan()
            cold.append(time.perf_counter() - started)
        started = time.perf_counter()
        assert not registry.refresh()
        confirm = time.perf_counter() - started
        env = os.environ | {"HOME": str(workspace / "home"), "XDG_CACHE_HOME": str(workspace / "cache")}
        listing = [sys.executable, "-m", "weft", "skills", "list", "--workspace", str(workspace)]
        medians(1, [listing], env)
        bare, warm = medians(15, [[sys.executable, "-c", "pass"], listing], env)
    print(f"{count} skills: reading the files {1000 * min(reading):.0f} ms")
    print(f"cold listing {1000 * min(cold):.0f} ms: {min(cold) / min(reading):.1f} times that")
    print(f"checking that nothing changed {1000 * confirm:.0f} ms")
    cached = f"`weft skills list` with a warm cache {1000 * warm:.0f} ms"
    print(f"{cached}: {warm / bare:.1f} times `python -c pass` ({1000 * bare:.0f} ms)")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m bench.discovery FOLDER [COUNT]")
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 5_000)
