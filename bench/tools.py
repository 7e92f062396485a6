"""The cost of confinement: 100 concurrent calls of a trivial tool against bare runs of the same interpreter.

Run from the repository's root: `python -m bench.tools`. Exits 1 if a call takes longer than 1.5 bare runs, or leaves a
process, an open file or a scratch folder behind.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from skills.confinement import Confinement, landlock, seccomp
from skills.confinement.bubblewrap import BubblewrapConfinement, working
from skills.confinement.cgroup import Groups
from skills.confinement.landlock_box import LandlockConfinement
from skills.programs import manifest_file as manifests
from skills.programs.build_cache import BuildCache
from skills.programs.executable import ExecutableTool, ToolHost

CALLS = 100
ROUNDS = 5
MAX_RATIO = 1.5
PROGRAM = """import json, sys
arguments = json.loads(sys.stdin.readline())["arguments"]
print(json.dumps({"output": arguments["text"], "error": ""}))
"""
MANIFEST = """name: echo_say
description: Say a text.
runtime: python
entry: main.py
parameters: [{name: text, type: string, required: true}]
"""


def main() -> int:
    """Measure each confinement that works here, alternating with bare runs."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folder = root / "work" / "echo"
        folder.mkdir(parents=True)
        (folder / "skill.yaml").write_text(MANIFEST)
        (folder / "main.py").write_text(PROGRAM)
        return max([measure(confinement, root, folder) for confinement in confinements()], default=1)


def confinements() -> list[Confinement]:
    """Every confinement that works on this machine."""
    found: list[Confinement] = []
    if working():
        found.append(BubblewrapConfinement(working(), Path.home()))
    if landlock.version() and seccomp.machine():
        walled = LandlockConfinement(Path.home(), landlock.version())
        ungrouped = replace(walled, groups=Groups(None), name=f"{walled.name} without control groups")
        found += [walled, ungrouped]
    return found


def measure(confinement: Confinement, root: Path, folder: Path) -> int:
    """Measure and print; returns 0 if the ratio is within its bound and nothing is left behind, else 1."""
    host = ToolHost(folder.parent, root / "scratch", confinement, BuildCache(root / "cache"))
    tool = ExecutableTool(manifests.read(folder)[0][0], host)
    asyncio.run(calls(tool, 4))
    files = open_files()
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(timed(lambda: bare_runs(folder / "main.py")) * 1000 / CALLS)
        ours.append(timed(lambda: asyncio.run(calls(tool, CALLS))) * 1000 / CALLS)
        print(f"{confinement.name}: bare {bare[-1]:.1f} ms, confined {ours[-1]:.1f} ms per call")
    # The best round of each, to leave out other load on the machine.
    ratio = min(ours) / min(bare)
    left = [path.name for path in (root / "scratch").iterdir()] + processes(folder)
    leaked = open_files() - files
    print(f"{confinement.name}: ratio {ratio:.2f}, best of {ROUNDS} rounds each")
    print(f"{confinement.name}: left behind: {len(left)}; open files: {leaked:+d}")
    return int(ratio > MAX_RATIO or bool(left) or leaked > 0)


async def calls(tool: ExecutableTool, count: int) -> None:
    """Make all calls at once, and check that each got its own answer."""
    envelopes = await asyncio.gather(*(tool.call({"text": f"call {n}"}) for n in range(count)))
    assert [envelope.text for envelope in envelopes] == [f"call {n}" for n in range(count)], envelopes[0]


def bare_runs(program: Path) -> None:
    """Run the same program without weft, with the same concurrency."""

    def run(number: int) -> None:
        line = b'{"arguments": {"text": "call %d"}}\n' % number
        # In a session of its own, as weft's calls are: on a busy machine the scheduler gives each session its share.
        command = [sys.executable, str(program)]
        subprocess.run(command, input=line, stdout=subprocess.PIPE, check=True, start_new_session=True)

    with ThreadPoolExecutor(CALLS) as pool:
        list(pool.map(run, range(CALLS)))


def timed(work: object) -> float:
    """The seconds that a call of `work` takes."""
    assert callable(work)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def open_files() -> int:
    """The number of open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def processes(folder: Path) -> list[str]:
    """The processes that still run a program of the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


if __name__ == "__main__":
    sys.exit(main())
