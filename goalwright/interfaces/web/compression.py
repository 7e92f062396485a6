"""Answers made smaller for slow lines: JSON and the page's own files, never streams or files of a run."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

# Smaller answers fit into one or two packets as they are.
_LEAST = 2_000


def accepted(request: Request) -> bool:
    """Whether the one who asks can read it."""
    given = (part.partition(";") for part in request.headers.get("accept-encoding", "").lower().split(","))
    return any(name.strip() == "gzip" and rest.replace(" ", "") not in ("q=0", "q=0.0") for name, _, rest in given)


def pack(data: bytes, *, level: int) -> bytes:
    """The data compressed; the same bytes for the same data."""
    return gzip.compress(data, level, mtime=0)


async def compressed(request: Request, reply: Response) -> Response:
    """An answer in JSON, made smaller if it is long."""
    kind = reply.headers.get("content-type", "")
    if not kind.startswith("application/json") or len(reply.body) < _LEAST or not accepted(request):
        return reply
    reply.body = await asyncio.to_thread(pack, bytes(reply.body), level=1)
    reply.headers["content-encoding"] = "gzip"
    reply.headers["vary"] = "accept-encoding"
    reply.headers["content-length"] = str(len(reply.body))
    return reply
