"""Tool calls: milliseconds per call of a trivial tool, and calls per second, in each sandbox and without one.

Floor: the same program as a bare process in the same interpreter, with the same concurrency.

    python -m bench.tools

A call must not leave a process, an open file or a scratch folder behind.
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
from bench.harness.timing import alternate, elapsed
from goalwright_skills.confinement import Confinement, landlock, seccomp
from goalwright_skills.confinement.bubblewrap import BubblewrapConfinement, working
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.confinement.landlock_box import LandlockConfinement, NoConfinement
from goalwright_skills.programs import manifest_file as manifests
from goalwright_skills.programs.build_cache import BuildCache
from goalwright_skills.programs.executable import ExecutableTool, ToolHost

BARE = "bare process"
NO_WALLS = "goalwright, no sandbox"
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
    """Measure bare processes and each available sandbox in alternating rounds."""
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
        samples = {name: elapsed(these, 1000 / count) for name, these in alternate(contenders, rounds).items()}
        left = [path.name for path in (root / "scratch").iterdir()] + processes(folder)
        leaked = max(0, open_files() - files)
    rows = {name: cells(these, [1000 / one for one in these]) for name, these in samples.items()}
    columns = (Column("a call", "ms", ratio=True), Column("calls per second"))
    # The best round of each, to exclude other load on the machine.
    slowest = max((min(samples[name]) / min(samples[BARE]) for name in tools), default=0.0)
    bare = min(samples[NO_WALLS]) / min(samples[BARE])
    reason = f"without a sandbox it is {bare:.3g}: a second process watches each call and kills leftovers"
    aims = (
        Aim("a call over a bare process, slowest sandbox", slowest, MAX_RATIO, reason=reason),
        Aim("processes and scratch folders left behind", len(left), 0, is_count=True),
        Aim("files left open", leaked, 0, is_count=True),
    )
    return Findings((Table(f"{count} calls at a time", columns, rows, BARE),), aims)


def confinements() -> list[Confinement]:
    """Return the sandboxes available on this machine, and the absence of one."""
    available: list[Confinement] = [NoConfinement()]
    if working():
        available.append(BubblewrapConfinement(working(), Path.home()))
    if landlock.version() and seccomp.machine():
        walled = LandlockConfinement(Path.home(), landlock.version())
        ungrouped = replace(walled, groups=Groups(None), name=f"{walled.name} without control groups")
        available += [walled, ungrouped]
    return available


def _named(confinement: Confinement) -> str:
    return "no sandbox" if isinstance(confinement, NoConfinement) else confinement.name


def tool(confinement: Confinement, root: Path, folder: Path) -> ExecutableTool:
    """Return the tool in a sandbox."""
    host = ToolHost(folder.parent, root / "scratch", confinement, BuildCache(root / "cache"))
    return ExecutableTool(manifests.read(folder)[0][0], host)


def run_calls(one: ExecutableTool, count: int) -> None:
    """Make all calls at once in a new event loop."""
    asyncio.run(calls(one, count))


async def calls(one: ExecutableTool, count: int) -> None:
    """Make all calls at once and check each answer."""
    envelopes = await asyncio.gather(*(one.call({"text": f"call {n}"}) for n in range(count)))
    assert [envelope.text for envelope in envelopes] == [f"call {n}" for n in range(count)], envelopes[0]


def bare_runs(program: Path, count: int) -> None:
    """Run the same program without goalwright and with the same concurrency."""

    def run_one(number: int) -> None:
        line = b'{"arguments": {"text": "call %d"}}\n' % number
        # In a new session, like goalwright's calls, because the kernel schedules sessions fairly.
        words = [sys.executable, str(program)]
        subprocess.run(words, input=line, stdout=subprocess.PIPE, check=True, start_new_session=True)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run_one, range(count)))


def open_files() -> int:
    """Return the number of open files of this process."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def processes(folder: Path) -> list[str]:
    """Return the processes that still run a program of the folder."""
    pids = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    pids.append(entry.name)
            except OSError:
                continue
    return pids


BENCHMARK = Benchmark(
    "tools",
    "Calls of a trivial tool: milliseconds per call and calls per second, in each sandbox and without one.",
    "The same program as a bare process.",
    (),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
