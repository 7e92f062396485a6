"""Answers as JSON and as event streams."""

from __future__ import annotations

import asyncio
import gzip
import json
from functools import wraps
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.errors import status_of, to_dict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request

    from goalwright.interfaces.web.site import Site
    from goalwright_skills.errors import GoalwrightError

# How long a page waits before it connects again, in milliseconds; and what keeps a quiet connection open.
RETRY = b"retry: 1000\n\n"
COMMENT = b": here\n\n"
# Smaller answers fit into one or two packets as they are.
_LEAST_COMPRESSED = 2_000
# JSON escapes the line breaks that an event stream knows; some readers break lines at these, too.
_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def as_json(value: Any) -> bytes:
    """A value as JSON; a lone surrogate, which UTF-8 does not have, is written as an escape."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "backslashreplace")


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(as_json(value), status, headers, "application/json")


def in_thread(read: Callable[[Site, Request], Any]) -> Callable[[Site, Request], Awaitable[Response]]:
    """The handler that answers with what a function reads, in a thread: reading must not keep others waiting.

    It is for requests that bring no body.
    """

    @wraps(read)
    async def answer(site: Site, request: Request) -> Response:
        if request.method == "POST":
            await bodies.document(request)
        return json_reply(await asyncio.to_thread(read, site, request))

    return answer


def error_reply(error: GoalwrightError) -> Response:
    """The answer to a request that is refused."""
    return json_reply(to_dict(error), status_of(error))


def event(kind: str, data: Any, seq: int | None = None) -> bytes:
    """One event of a stream; those that the journal has carry its number, by which a page continues."""
    place = f"id: {seq}\n" if seq is not None else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str).translate(_BREAKS)
    return f"{place}event: {kind}\ndata: {text}\n\n".encode("utf-8", "backslashreplace")


def stream_reply(events: AsyncIterator[bytes]) -> Response:
    """An event stream."""
    return StreamingResponse(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def attachment(data: bytes | AsyncIterator[bytes], name: str) -> Response:
    """Bytes that a browser saves and never shows."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in name) or "file"
    headers = {"content-disposition": f'attachment; filename="{plain}"'}
    if isinstance(data, bytes):
        return Response(data, media_type="application/octet-stream", headers=headers)
    return StreamingResponse(data, media_type="application/octet-stream", headers=headers)


def accepts_gzip(request: Request) -> bool:
    """Whether the one who asks can read it."""
    given = (part.partition(";") for part in request.headers.get("accept-encoding", "").lower().split(","))
    return any(name.strip() == "gzip" and rest.replace(" ", "") not in ("q=0", "q=0.0") for name, _, rest in given)


def pack(data: bytes, *, level: int) -> bytes:
    """The data compressed; the same bytes for the same data."""
    return gzip.compress(data, level, mtime=0)


async def compressed(request: Request, reply: Response) -> Response:
    """An answer in JSON, made smaller if it is long."""
    kind = reply.headers.get("content-type", "")
    if not kind.startswith("application/json") or len(reply.body) < _LEAST_COMPRESSED or not accepts_gzip(request):
        return reply
    reply.body = await asyncio.to_thread(pack, bytes(reply.body), level=1)
    reply.headers["content-encoding"] = "gzip"
    reply.headers["vary"] = "accept-encoding"
    reply.headers["content-length"] = str(len(reply.body))
    return reply
