"""Allocations beyond the memory limit of a call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_skills.programs.executable import ExecutableTool
from tests.skills.confinement.test_memory import ATTACKS, LIMIT, PROLOGUE
from tests.walls.registry import probe

if TYPE_CHECKING:
    from tests.skills.workbench import Workbench

# Three kinds of memory; any two stay within the limit.
TOGETHER = """
shared = [mmap.mmap(-1, SIZE) for _ in range(3)]
for block in shared: fill(block)
files = [os.memfd_create('x') for _ in range(3)]
for fd in files: os.write(fd, bytes(SIZE))
for _ in range(3):
    if os.fork() == 0:
        own = bytearray(b'x') * SIZE
        time.sleep(20)
"""
# Waits until the process or one of its children is killed.
WAIT = """
for _ in range(300):
    time.sleep(0.1)
    try:
        if os.waitpid(-1, os.WNOHANG)[0]:
            break
    except ChildProcessError:
        pass
"""


async def _allocate(bench: Workbench, attack: str, limit: int, size: int) -> str:
    prologue = PROLOGUE.replace("60 * 1024**2", str(size))
    tool = bench.tool(prologue + attack + WAIT + "reply('kept')", timeout=120)
    host = replace(tool.host, limits=replace(tool.host.limits, memory=limit))
    envelope = await ExecutableTool(tool.manifest, host).call({})
    if envelope.error is None:
        return f"it kept more than {limit // 1024**2} MB"
    return "" if "of memory" in envelope.error.message else f"it ended for another reason: {envelope.error.message}"


def _register(name: str, attack: str) -> None:
    @probe(f"memory is limited: {name}")
    async def small(bench: Workbench) -> str:
        return await _allocate(bench, attack, LIMIT, 60 * 1024**2)


for _name, _attack in ATTACKS.items():
    _register(_name, _attack)


@probe("memory is limited to 2 GB, of three kinds together", slow=True)
async def _large(bench: Workbench) -> str:
    return await _allocate(bench, TOGETHER, 2 * 1024**3, 250 * 1024**2)
