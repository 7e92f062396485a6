"""Messages between weft and its workers: pickles, each preceded by its length.

Pickle is safe here: both ends are weft itself, on a socket pair that no other process can open.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

_LENGTH = struct.Struct(">I")


def write(writer: asyncio.StreamWriter, message: object) -> None:
    """Send a message; it is buffered until the other side reads it."""
    writer.write(_packed(message))


async def read(reader: asyncio.StreamReader) -> Any | None:
    """The next message, or None if the other side is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))  # noqa: S301 - see above
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def send(connection: socket.socket, message: object) -> None:
    """Send a message where there is no event loop yet; nothing happens if the other side is gone."""
    try:
        connection.sendall(_packed(message))
    except ConnectionError:
        return


def receive(connection: socket.socket) -> Any | None:
    """The next message, where there is no event loop yet, or None if the other side is gone."""
    head = _received(connection, _LENGTH.size)
    body = _received(connection, *_LENGTH.unpack(head)) if head is not None else None
    return None if body is None else pickle.loads(body)  # noqa: S301 - see above


def _received(connection: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        try:
            part = connection.recv(size - len(parts))
        except ConnectionError:
            return None
        if not part:
            return None
        parts += part
    return bytes(parts)


def _packed(message: object) -> bytes:
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body
