"""Messages between weft and its workers: pickles, each preceded by its length.

Pickle is safe here: both ends are weft itself, on a socket pair that no other process can open.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import Any

_LENGTH = struct.Struct(">I")


def write(writer: asyncio.StreamWriter, message: object) -> None:
    """Send a message; it is buffered until the other side reads it."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.write(_LENGTH.pack(len(body)) + body)


async def read(reader: asyncio.StreamReader) -> Any | None:
    """The next message, or None if the other side is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))  # noqa: S301 - see above
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
