"""The mode, owner, times, attributes and flags of files outside."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

from tests.walls.probes.processes import AIM
from tests.walls.registry import probe

if TYPE_CHECKING:
    from pathlib import Path

    from tests.skills.workbench import Workbench

ACT = """
import fcntl
path = arguments["path"]
name = path.encode()
fd = os.open(path, os.O_RDONLY)
folder = os.open(os.path.dirname(path), os.O_RDONLY)
attempt(os.chmod, path, 0o777); attempt(os.fchmod, fd, 0o777)
attempt(os.chown, path, 1, 1); attempt(os.lchown, path, 1, 1)
attempt(os.utime, path, (1, 1)); attempt(os.utime, fd, (2, 2))
for target in (path, fd):
    attempt(os.setxattr, target, "user.probe", b"x")
    attempt(os.removexattr, target, "user.own")
value = ctypes.create_string_buffer(b"x")
call(452, 452, -100, name, 0o777, 0)
call(463, 463, -100, name, 0, b"user.probe", struct.pack("=QII", ctypes.addressof(value), 1, 0), 16)
call(466, 466, -100, name, 0, b"user.own")
call(469, 469, -100, name, struct.pack("=QIIII", 0x80, 0, 0, 0, 0), 24, 0)
call(469, 469, fd, b"", struct.pack("=QIIII", 0x80, 0, 0, 0, 0), 24, 0x1000)
for request, word in ((0x40086602, "=Q"), (0x40046602, "=I")):
    attempt(fcntl.ioctl, fd, request, struct.pack(word, 0x80 | 0x40))
    attempt(fcntl.ioctl, folder, request, struct.pack(word, 0x80 | 0x40))
attempt(fcntl.ioctl, fd, 0x401C5820, struct.pack("=IIIII8x", 0x40, 0, 0, 7, 0))
attempt(fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
attempt(os.truncate, path, 0)
reply("tried")
"""
PATH = [{"name": "path", "type": "string", "required": True}]


def _state(path: Path) -> dict[str, object]:
    status = path.stat()
    flags = array.array("l", [0])
    attributes: list[str] = []
    with contextlib.suppress(OSError):
        attributes = sorted(os.listxattr(path))
    with path.open("rb") as file, contextlib.suppress(OSError):
        fcntl.ioctl(file.fileno(), 0x80086601, flags)
    return {
        "mode": status.st_mode,
        "owner": (status.st_uid, status.st_gid),
        "time": status.st_mtime_ns,
        "size": status.st_size,
        "attributes": attributes,
        "flags": flags[0],
    }


@probe("files of the workspace keep their mode, owner, times, attributes and flags")
async def metadata(bench: Workbench) -> str:
    path = bench.workspace / "precious" / "file.txt"
    path.parent.mkdir()
    path.write_text("precious")
    path.chmod(0o640)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.own", b"x")
    before, folder_mode = _state(path), path.parent.stat().st_mode
    envelope = await bench.tool(AIM.replace('pids = arguments["pids"]', "") + ACT, parameters=PATH).call(
        {"path": str(path)}
    )
    after = _state(path)
    if envelope.text != "tried":
        return f"the attack did not run: {envelope.text}"
    changed = [key for key in before if after[key] != before[key]]
    return ", ".join([*changed, *(["mode of the folder"] if path.parent.stat().st_mode != folder_mode else [])])
