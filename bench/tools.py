"""Tool calls: milliseconds for a call of a trivial tool, and calls a second, behind each wall and without one.

Floor: the same program in the same interpreter as a bare process, with the same number at a time.

    python -m bench.tools

A call must leave no process, no open file and no scratch folder behind.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.harness import command
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells
from bench.harness.timing import elapsed, in_turn
from goalwright_skills.confinement import Confinement, landlock, seccomp
from goalwright_skills.confinement.bubblewrap import BubblewrapConfinement, working
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.confinement.landlock_box import LandlockConfinement, NoConfinement
from goalwright_skills.programs import manifest_file as manifests
from goalwright_skills.programs.build_cache import BuildCache
from goalwright_skills.programs.executable import ExecutableTool, ToolHost

BARE = "bare process"
NO_WALLS = "goalwright, without walls"
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


def run(options: Options) -> Findings:
    """Measure bare processes and each confinement that works here, in turn."""
    count, rounds = (5, 1) if options.quick else (100, 4)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folder = root / "work" / "echo"
        folder.mkdir(parents=True)
        (folder / "skill.yaml").write_text(MANIFEST)
        (folder / "main.py").write_text(PROGRAM)
        tools = {f"goalwright, {_named(one)}": tool(one, root, folder) for one in confinements()}
        for one in tools.values():
            asyncio.run(calls(one, 4))
        files = open_files()
        contenders = {BARE: partial(bare_runs, folder / "main.py", count)}
        contenders |= {name: partial(run_calls, one, count) for name, one in tools.items()}
        samples = {name: elapsed(these, 1000 / count) for name, these in in_turn(contenders, rounds).items()}
        left = [path.name for path in (root / "scratch").iterdir()] + processes(folder)
        leaked = max(0, open_files() - files)
    rows = {name: cells(these, [1000 / one for one in these]) for name, these in samples.items()}
    columns = (Column("a call", "ms", ratio=True), Column("calls a second"))
    # The best round of each, to leave out other load on the machine.
    slowest = max((min(samples[name]) / min(samples[BARE]) for name in tools), default=0.0)
    bare = min(samples[NO_WALLS]) / min(samples[BARE])
    reason = (
        f"without walls it is {bare:.3g}: a second process watches each call, so that nothing of it is left running"
    )
    aims = (
        Aim("a call over a bare process, the slowest wall", slowest, MAX_RATIO, reason=reason),
        Aim("processes and scratch folders left behind", len(left), 0, is_count=True),
        Aim("files left open", leaked, 0, is_count=True),
    )
    return Findings((Table(f"{count} calls at a time", columns, rows, BARE),), aims)


def confinements() -> list[Confinement]:
    """Every confinement that works on this machine, and none."""
    found: list[Confinement] = [NoConfinement()]
    if working():
        found.append(BubblewrapConfinement(working(), Path.home()))
    if landlock.version() and seccomp.machine():
        walled = LandlockConfinement(Path.home(), landlock.version())
        ungrouped = replace(walled, groups=Groups(None), name=f"{walled.name} without control groups")
        found += [walled, ungrouped]
    return found


def _named(confinement: Confinement) -> str:
    return "without walls" if isinstance(confinement, NoConfinement) else confinement.name


def tool(confinement: Confinement, root: Path, folder: Path) -> ExecutableTool:
    """The tool behind a wall."""
    host = ToolHost(folder.parent, root / "scratch", confinement, BuildCache(root / "cache"))
    return ExecutableTool(manifests.read(folder)[0][0], host)


def run_calls(one: ExecutableTool, count: int) -> None:
    """All calls at once, in a loop of their own."""
    asyncio.run(calls(one, count))


async def calls(one: ExecutableTool, count: int) -> None:
    """Make all calls at once, and check that each got its own answer."""
    envelopes = await asyncio.gather(*(one.call({"text": f"call {n}"}) for n in range(count)))
    assert [envelope.text for envelope in envelopes] == [f"call {n}" for n in range(count)], envelopes[0]


def bare_runs(program: Path, count: int) -> None:
    """Run the same program without goalwright, with the same concurrency."""

    def run_one(number: int) -> None:
        line = b'{"arguments": {"text": "call %d"}}\n' % number
        # In a session of its own, as goalwright's calls are: on a busy machine the scheduler gives each session its share.
        words = [sys.executable, str(program)]
        subprocess.run(words, input=line, stdout=subprocess.PIPE, check=True, start_new_session=True)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run_one, range(count)))


def open_files() -> int:
    """The number of open files of this process."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def processes(folder: Path) -> list[str]:
    """The processes that still run a program of the folder."""
    found = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


BENCHMARK = Benchmark(
    "tools",
    "Calls of a trivial tool: milliseconds for one and calls a second, behind each wall and without one.",
    "The same program as a bare process.",
    (),
    run,
)

if __name__ == "__main__":
    sys.exit(command.single(BENCHMARK))
