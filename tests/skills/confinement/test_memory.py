"""The memory of a whole call is limited for every kind of allocation, by a control group or by goalwright's watcher."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.confinement import ResourceLimits
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.programs.executable import ExecutableTool
from tests.needs import needs_memory_groups
from tests.skills.workbench import WALLS, Workbench, walls

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope

pytestmark = pytest.mark.slow

LIMIT = 160 * 1024**2
# Each allocates 60 MB six times and then waits to be killed.
ATTACKS = {
    "shared": "m = [mmap.mmap(-1, SIZE) for _ in range(6)]\nfor block in m: fill(block)",
    "dropped": """
m = [mmap.mmap(-1, SIZE) for _ in range(6)]
for block in m:
    fill(block)
    block.madvise(mmap.MADV_DONTNEED)
""",
    "memfd written": "m = [os.memfd_create('x') for _ in range(6)]\nfor fd in m: os.write(fd, bytes(SIZE))",
    "memfd mapped and closed": """
m = []
for _ in range(6):
    fd = os.memfd_create('x')
    os.ftruncate(fd, SIZE)
    m.append(mmap.mmap(fd, SIZE))
    os.close(fd)
    fill(m[-1])
""",
    "filled by a child": """
m = [mmap.mmap(-1, SIZE) for _ in range(6)]
for block in m:
    if os.fork() == 0:
        fill(block)
        os._exit(0)
    os.wait()
""",
    "private, in many processes": """
for _ in range(6):
    if os.fork() == 0:
        m = bytearray(b'x') * SIZE
        time.sleep(20)
""",
    "in flight": """
a, b = socket.socketpair()
for _ in range(6):
    fd = os.memfd_create('x')
    os.write(fd, bytes(SIZE))
    socket.send_fds(a, [b'x'], [fd])
    os.close(fd)
""",
}
PROLOGUE = """
import mmap, os, socket, time
SIZE = 60 * 1024**2
def fill(block):
    for offset in range(0, SIZE, 4096):
        block[offset] = 1
"""


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = walls(request.param, bench.home)
    return bench


def limited(tool: ExecutableTool, *, watcher: bool) -> ExecutableTool:
    """Return the tool with less memory, limited by goalwright's watcher or by a control group."""
    confinement = tool.host.confinement
    if watcher:
        confinement = replace(confinement, groups=Groups(None))  # type: ignore[type-var]
    limits = replace(ResourceLimits(), memory=LIMIT)
    return ExecutableTool(tool.manifest, replace(tool.host, confinement=confinement, limits=limits))


def names_the_limit(envelope: Envelope) -> bool:
    return envelope.error is not None and "160 MB of memory" in envelope.error.message


@pytest.mark.parametrize("attack", ATTACKS)
async def test_call_that_exceeds_its_memory_is_killed(bench: Workbench, attack: str) -> None:
    tool = bench.tool(PROLOGUE + ATTACKS[attack] + "\ntime.sleep(20)\nreply('kept')", timeout=15)
    envelope = await limited(tool, watcher=True).call({})
    assert names_the_limit(envelope), envelope


@needs_memory_groups
@pytest.mark.parametrize("attack", ["shared", "memfd written", "filled by a child"])
async def test_control_group_kills_a_call_that_exceeds_its_memory(bench: Workbench, attack: str) -> None:
    tool = bench.tool(PROLOGUE + ATTACKS[attack] + "\nreply('kept')", timeout=15)
    envelope = await limited(tool, watcher=False).call({})
    assert names_the_limit(envelope), envelope


@pytest.mark.parametrize("watcher", [False, True])
async def test_call_within_its_memory_is_not_killed(bench: Workbench, watcher: bool) -> None:
    program = """
        shared = mmap.mmap(-1, SIZE)
        fill(shared)
        m = bytearray(b'x') * (SIZE // 2)
        for _ in range(8):  # they share the pages
            if os.fork() == 0:
                time.sleep(0.6)
                os._exit(0)
        time.sleep(0.6)
        reply('done')
    """
    tool = bench.tool(PROLOGUE + textwrap.dedent(program))
    envelope = await limited(tool, watcher=watcher).call({})
    assert envelope.text == "done", envelope


async def test_refused_allocation_names_the_limit(bench: Workbench) -> None:
    tool = bench.tool("x = bytearray(8 * 1024**3); reply('done')")
    envelope = await tool.call({})
    assert envelope.error is not None
    assert "the limit on memory is 2 GB" in envelope.error.message


async def test_process_cannot_hide_from_the_watcher(bench: Workbench) -> None:
    tool = bench.tool("import ctypes; reply(ctypes.CDLL(None).prctl(4, 0, 0, 0, 0))")
    assert (await tool.call({})).data["output"] == -1
