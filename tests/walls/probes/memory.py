"""More memory than a call may use, however it is allocated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.skills.confinement.test_memory import ATTACKS, LIMIT, PROLOGUE
from tests.walls.registry import probe
from weft_skills.programs.executable import ExecutableTool

if TYPE_CHECKING:
    from tests.skills.workbench import Workbench

# Until it is ended, or one of its children is.
WAIT = """
for _ in range(80):
    time.sleep(0.1)
    try:
        if os.waitpid(-1, os.WNOHANG)[0]:
            break
    except ChildProcessError:
        pass
"""


async def _kept(bench: Workbench, attack: str, limit: int, size: int) -> str:
    prologue = PROLOGUE.replace("60 * 1024**2", str(size))
    tool = bench.tool(prologue + attack + WAIT + "reply('kept')", timeout=30)
    host = replace(tool.host, limits=replace(tool.host.limits, memory=limit))
    envelope = await ExecutableTool(tool.manifest, host).call({})
    if envelope.error is None:
        return f"six times {size // 1024**2} MB were kept"
    return "" if "of memory" in envelope.error.message else f"it ended otherwise: {envelope.error.message}"


def _register(name: str, attack: str) -> None:
    @probe(f"memory is limited: {name}")
    async def small(bench: Workbench) -> str:
        return await _kept(bench, attack, LIMIT, 60 * 1024**2)

    if name in ("shared", "memfd written", "private, in many processes"):

        @probe(f"memory is limited to 2 GB: {name}", slow=True)
        async def large(bench: Workbench) -> str:
            return await _kept(bench, attack.replace("range(6)", "range(14)"), 2 * 1024**3, 250 * 1024**2)


for _name, _attack in ATTACKS.items():
    _register(_name, _attack)
