"""Attacks on local services that listen on Unix sockets with or without a file."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.models.call_process.socket_folder import SocketFolder
from tests.walls.registry import probe

if TYPE_CHECKING:
    from tests.skills.workbench import Workbench

SEND = """
import socket
def attempt(action):
    try:
        action()
    except OSError:
        pass
address = arguments["address"]
if address.startswith("@"):
    address = "\\0" + address[1:]
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    attempt(lambda: socket.socket(socket.AF_UNIX, kind).sendto(b"x", address))
    try:
        pair = socket.socketpair(socket.AF_UNIX, kind)
    except OSError:
        continue
    attempt(lambda: pair[0].sendto(b"x", address))
    attempt(lambda: pair[0].sendmsg([b"x"], [], 0, address))
    attempt(lambda: (pair[0].connect(address), pair[0].send(b"x")))
    pair[1].close()
    attempt(lambda: (pair[0].connect(address), pair[0].send(b"x")))
reply("tried")
"""
ADDRESS = [{"name": "address", "type": "string", "required": True}]


async def _reach(bench: Workbench, address: str, *, network: bool) -> str:
    connections = []
    tool = bench.tool(SEND, parameters=ADDRESS, network=network)
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(socket.AF_UNIX, kind) as server:
            server.bind("\0" + address[1:] if address.startswith("@") else address)
            if kind == socket.SOCK_STREAM:
                server.listen()
            server.setblocking(False)
            envelope = await tool.call({"address": address})
            if envelope.text != "tried":
                return f"the attack did not run: {envelope.text}"
            with contextlib.suppress(BlockingIOError):
                connections.append(server.recv(1) if kind == socket.SOCK_DGRAM else server.accept())
        if not address.startswith("@"):
            os.unlink(address)  # noqa: PTH108
    return f"{len(connections)} services were reached" if connections else ""


@probe("a service with a socket in the workspace cannot be reached")
async def by_path(bench: Workbench) -> str:
    before = os.getcwd()  # noqa: PTH109
    os.chdir(bench.workspace)  # the length of an address is limited
    try:
        return await _reach(bench, "service.sock", network=False)
    finally:
        os.chdir(before)


@probe("a service with an abstract socket cannot be reached, even with the network")
async def abstract(bench: Workbench) -> str:
    return await _reach(bench, f"@goalwright-probe-{os.getpid()}", network=True)


@probe("the process that keeps litellm loaded cannot be reached, even with the network")
async def call_process(bench: Workbench) -> str:
    with tempfile.TemporaryDirectory(prefix="goalwright-") as cache:
        folder = SocketFolder.of(Path(cache))
        folder.make()
        return await _reach(bench, str(folder.address), network=True)
