"""Responses: JSON, event streams, attachments, and their compression."""

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

# The milliseconds after which a page reconnects, and a comment that keeps an idle connection open.
RETRY = b"retry: 1000\n\n"
COMMENT = b": here\n\n"
# Smaller responses fit into one or two packets.
_LEAST_COMPRESSED = 2_000
# Line breaks that JSON does not escape, and at which some clients split lines.
_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def as_json(value: Any) -> bytes:
    """Encode a value as JSON; a lone surrogate, which UTF-8 cannot encode, is escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "backslashreplace")


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(as_json(value), status, headers, "application/json")


def in_thread(read: Callable[[Site, Request], Any]) -> Callable[[Site, Request], Awaitable[Response]]:
    """Make a handler of a function that blocks: it runs in a thread. For requests without a body."""

    @wraps(read)
    async def answer(site: Site, request: Request) -> Response:
        if request.method == "POST":
            await bodies.document(request)
        return json_reply(await asyncio.to_thread(read, site, request))

    return answer


def error_reply(error: GoalwrightError) -> Response:
    """Return the response to a refused request."""
    return json_reply(to_dict(error), status_of(error))


def event(kind: str, data: Any, seq: int | None = None) -> bytes:
    """Encode one event of a stream; a journaled event has a number, from which a page resumes."""
    id_line = f"id: {seq}\n" if seq is not None else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str).translate(_BREAKS)
    return f"{id_line}event: {kind}\ndata: {text}\n\n".encode("utf-8", "backslashreplace")


def stream_reply(events: AsyncIterator[bytes]) -> Response:
    """Return an event stream."""
    return StreamingResponse(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def attachment(data: bytes | AsyncIterator[bytes], name: str) -> Response:
    """Return bytes that a browser saves and never displays."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in name) or "file"
    headers = {"content-disposition": f'attachment; filename="{plain}"'}
    if isinstance(data, bytes):
        return Response(data, media_type="application/octet-stream", headers=headers)
    return StreamingResponse(data, media_type="application/octet-stream", headers=headers)


def accepts_gzip(request: Request) -> bool:
    """Return whether the client accepts gzip."""
    encodings = (part.partition(";") for part in request.headers.get("accept-encoding", "").lower().split(","))
    return any(
        name.strip() == "gzip" and weight.replace(" ", "") not in ("q=0", "q=0.0") for name, _, weight in encodings
    )


def pack(data: bytes, *, level: int) -> bytes:
    """Compress data; equal data gives equal bytes."""
    return gzip.compress(data, level, mtime=0)


async def compressed(request: Request, reply: Response) -> Response:
    """Compress a long JSON response if the client accepts gzip; event streams and files are left alone."""
    kind = reply.headers.get("content-type", "")
    if not kind.startswith("application/json") or len(reply.body) < _LEAST_COMPRESSED or not accepts_gzip(request):
        return reply
    reply.body = await asyncio.to_thread(pack, bytes(reply.body), level=1)
    reply.headers["content-encoding"] = "gzip"
    reply.headers["vary"] = "accept-encoding"
    reply.headers["content-length"] = str(len(reply.body))
    return reply
