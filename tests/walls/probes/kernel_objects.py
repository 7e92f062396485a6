"""Kernel objects that outlive a process: shared segments, queues, semaphores, keys."""

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
# A column and its value, which distinguish these objects from those of other programs.
OURS = {"shm": (3, "40961"), "msg": (0, str(0x77656675)), "sem": (3, "13")}


def _objects() -> set[str]:
    """Return the identifiers of SysV objects with these values on this machine."""
    objects = set()
    for kind, (column, value) in OURS.items():
        rows = map(str.split, Path("/proc/sysvipc", kind).read_text(encoding="utf-8").splitlines()[1:])
        objects |= {f"{kind} {row[1]}" for row in rows if row[column] == value}
    return objects


@probe("no SysV or POSIX object outlives a call")
async def kernel_objects(bench: Workbench) -> str:
    before = _objects()
    envelope = await bench.tool(AIM.replace('pids = arguments["pids"]', "") + MAKE).call({})
    if envelope.status != "success":
        return f"the attack did not run: {envelope.text}"
    return " ".join(sorted(_objects() - before))


@probe("no file is left in shared memory or temporary folders")
async def files(bench: Workbench) -> str:
    folders = ["/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp", "/run", "/run/lock"]
    tool = bench.tool(f"""
        for folder in {folders!r}:
            try:
                open(folder + "/goalwright-probe", "w").write("x")
            except OSError:
                pass
        reply("tried")
    """)
    await tool.call({})
    left = [path for folder in folders if (path := Path(folder, "goalwright-probe")).exists()]
    for path in left:
        path.unlink()
    return " ".join(map(str, left))
