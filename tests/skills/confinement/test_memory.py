"""The memory of a whole call is limited, however it is allocated: by a control group, or by goalwright's own watcher."""

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
# Each takes 60 MB at a time, six times, and then waits to be ended.
ATTACKS = {
    "shared": "m = [mmap.mmap(-1, SIZE) for _ in range(6)]\nfor one in m: fill(one)",
    "dropped": "m = [mmap.mmap(-1, SIZE) for _ in range(6)]\nfor one in m: fill(one); one.madvise(mmap.MADV_DONTNEED)",
    "memfd written": "m = [os.memfd_create('x') for _ in range(6)]\nfor one in m: os.write(one, bytes(SIZE))",
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
for one in m:
    if os.fork() == 0:
        fill(one)
        os._exit(0)
    os.wait()
""",
    "private, in many processes": """
for _ in range(6):
    if os.fork() == 0:
        m = bytearray(b'x') * SIZE
        time.sleep(20)
""",
    "on its way": """
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
def fill(one):
    for at in range(0, SIZE, 4096):
        one[at] = 1
"""


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = walls(request.param, bench.home)
    return bench


def limited(tool: ExecutableTool, *, watcher: bool) -> ExecutableTool:
    """The tool with less memory, watched by goalwright or by a control group."""
    confinement = tool.host.confinement
    if watcher:
        confinement = replace(confinement, groups=Groups(None))  # type: ignore[type-var]
    limits = replace(ResourceLimits(), memory=LIMIT)
    return ExecutableTool(tool.manifest, replace(tool.host, confinement=confinement, limits=limits))


def names_the_limit(envelope: Envelope) -> bool:
    return envelope.error is not None and "160 MB of memory" in envelope.error.message


@pytest.mark.parametrize("attack", ATTACKS)
async def test_more_memory_than_allowed_ends_the_call(bench: Workbench, attack: str) -> None:
    tool = bench.tool(PROLOGUE + ATTACKS[attack] + "\ntime.sleep(20)\nreply('kept')", timeout=15)
    envelope = await limited(tool, watcher=True).call({})
    assert names_the_limit(envelope), envelope


@needs_memory_groups
@pytest.mark.parametrize("attack", ["shared", "memfd written", "filled by a child"])
async def test_a_control_group_does_the_same(bench: Workbench, attack: str) -> None:
    tool = bench.tool(PROLOGUE + ATTACKS[attack] + "\nreply('kept')", timeout=15)
    envelope = await limited(tool, watcher=False).call({})
    assert names_the_limit(envelope), envelope


@pytest.mark.parametrize("watcher", [False, True])
async def test_less_memory_is_left_alone(bench: Workbench, watcher: bool) -> None:
    program = """
        shared = mmap.mmap(-1, SIZE)
        fill(shared)
        m = bytearray(b'x') * (SIZE // 2)
        for _ in range(8):  # they share its pages
            if os.fork() == 0:
                time.sleep(0.6)
                os._exit(0)
        time.sleep(0.6)
        reply('done')
    """
    tool = bench.tool(PROLOGUE + textwrap.dedent(program))
    envelope = await limited(tool, watcher=watcher).call({})
    assert envelope.text == "done", envelope


async def test_a_process_that_may_not_have_more_says_why(bench: Workbench) -> None:
    tool = bench.tool("x = bytearray(8 * 1024**3); reply('done')")
    envelope = await tool.call({})
    assert envelope.error is not None
    assert "2 GB of memory" in envelope.error.message


async def test_a_process_cannot_hide_from_the_watcher(bench: Workbench) -> None:
    tool = bench.tool("import ctypes; reply(ctypes.CDLL(None).prctl(4, 0, 0, 0, 0))")
    assert (await tool.call({})).data["output"] == -1
