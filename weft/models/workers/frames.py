"""Messages between weft and the processes that make its calls: pickles, each behind its length.

Both ends are weft's own and share a socket that nobody else has, which is what makes pickle safe here.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import Any

_LENGTH = struct.Struct(">I")


def write(writer: asyncio.StreamWriter, message: object) -> None:
    """Send a message; what the other side has not taken yet is kept."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.write(_LENGTH.pack(len(body)) + body)


async def read(reader: asyncio.StreamReader) -> Any | None:
    """The next message; None where the other side is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))  # noqa: S301 - see above
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
