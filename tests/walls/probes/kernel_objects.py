"""What outlives a process: shared segments, queues, semaphores, keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.walls.probes.processes import AIM
from tests.walls.registry import probe

if TYPE_CHECKING:
    from tests.skills.workbench import Workbench

MAKE = """
made = []
if call(29, 194, 0, 40961, 0o1600) >= 0: made.append("segment")
if call(29, 194, 0x77656674, 40961, 0o1600) >= 0: made.append("segment")
if call(68, 186, 0x77656675, 0o1600) >= 0: made.append("queue")
if call(64, 190, 0, 13, 0o1600) >= 0: made.append("semaphore")
if call(240, 180, b"goalwright-probe", 0o102, 0o600, None) >= 0: made.append("POSIX queue")
if call(248, 217, b"user", b"goalwright-probe", b"x", 1, -4) >= 0: made.append("key")
reply(" ".join(made))
"""
# What tells these from the objects of browsers and databases that run meanwhile: a column, and its value there.
OURS = {"shm": (3, "40961"), "msg": (0, str(0x77656675)), "sem": (3, "13")}


def _left() -> set[str]:
    """The identifiers of SysV objects of this kind on this machine."""
    found = set()
    for kind, (column, value) in OURS.items():
        rows = map(str.split, Path("/proc/sysvipc", kind).read_text(encoding="utf-8").splitlines()[1:])
        found |= {f"{kind} {row[1]}" for row in rows if row[column] == value}
    return found


@probe("no SysV or POSIX object outlives a call")
async def objects(bench: Workbench) -> str:
    before = _left()
    envelope = await bench.tool(AIM.replace('pids = arguments["pids"]', "") + MAKE).call({})
    if envelope.status != "success":
        return f"the attack did not run: {envelope.text}"
    return " ".join(sorted(_left() - before))


@probe("no file is left in shared memory or temporary folders")
async def files(bench: Workbench) -> str:
    places = ["/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp", "/run", "/run/lock"]
    tool = bench.tool(f"""
        for place in {places!r}:
            try:
                open(place + "/goalwright-probe", "w").write("x")
            except OSError:
                pass
        reply("tried")
    """)
    await tool.call({})
    left = [Path(place, "goalwright-probe") for place in places if Path(place, "goalwright-probe").exists()]
    for path in left:
        path.unlink()
    return " ".join(map(str, left))
