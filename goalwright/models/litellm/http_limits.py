"""Limits on the size of a provider's responses, checked while they are read and decompressed.

litellm reads responses of any size, and searches errors that quote them in the event loop: a large one blocks all other
calls and their timeouts. All of its clients use httpx, so the limits apply there, to calls made within `limited`.
"""

from __future__ import annotations

import asyncio
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
import msgspec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

# An answer of a million tokens is smaller.
MAX_ANSWER = 8 * 2**20
# One event of a streamed answer: clients search all of it again with every chunk.
_MAX_EVENT = 2**20
# An error's message fits; the rest is not read.
_MAX_ERROR = 64 * 2**10
# A larger answer is refused unless it looks like one: litellm's error would quote it, and searching that takes seconds.
_UNCHECKED = 256 * 2**10
_PIECE = 256 * 2**10


class AnswerTooLarge(Exception):
    """A provider sent more than a call accepts."""


# Errors of a request that was not sent, because there was no connection.
_UNSENT = ("ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError")
_UNCONNECTED = ("ClientConnectorError", "ConnectionRefusedError", "gaierror")


@dataclass(slots=True)
class AnswerLimit:
    """The size limit of one call, and the state of its answer.

    `exceeded` is the reason why the answer was refused; `was_sent` is true once the provider has the request and has
    not refused it; `received` is the body of an answer that is not streamed.
    """

    max_bytes: int = MAX_ANSWER
    exceeded: str = ""
    was_sent: bool = False
    received: bytearray = field(default_factory=bytearray)

    def refuse(self, reason: str) -> AnswerTooLarge:
        """Note why the answer is refused, and return the error to raise."""
        self.exceeded = reason
        return AnswerTooLarge(reason)


_limit: ContextVar[AnswerLimit | None] = ContextVar("answer_limit", default=None)


@contextmanager
def limited(limit: AnswerLimit) -> Iterator[AnswerLimit]:
    """Apply the limit to all HTTP calls made within."""
    token = _limit.set(limit)
    try:
        yield limit
    finally:
        _limit.reset(token)


def install() -> None:
    """Make every httpx client obey `limited`; calls outside of it are not affected."""
    if getattr(httpx.AsyncClient._send_single_request, "keeps_limits", False):
        return
    send, send_now = httpx.AsyncClient._send_single_request, httpx.Client._send_single_request

    async def send_limited(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        limit = _limit.get()
        if limit is None:
            return await send(client, request)
        with _sending(limit):
            response = await send(client, _asking_for_known_encodings(request))
        body = _Body.of(response, limit)
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - httpx has checked it
        response.stream = _AsyncStream(response.stream, body)
        return response

    def send_limited_now(client: httpx.Client, request: httpx.Request) -> httpx.Response:
        limit = _limit.get()
        if limit is None:
            return send_now(client, request)
        with _sending(limit):
            response = send_now(client, _asking_for_known_encodings(request))
        body = _Body.of(response, limit)
        assert isinstance(response.stream, httpx.SyncByteStream)  # noqa: S101 - httpx has checked it
        response.stream = _SyncStream(response.stream, body)
        return response

    send_limited.keeps_limits = True  # type: ignore[attr-defined]
    httpx.AsyncClient._send_single_request = send_limited  # type: ignore[assignment, method-assign]
    httpx.Client._send_single_request = send_limited_now  # type: ignore[assignment, method-assign]


@contextmanager
def _sending(limit: AnswerLimit) -> Iterator[None]:
    """Record whether a request was sent, even if it fails."""
    limit.was_sent = True
    limit.received.clear()
    try:
        yield
    except Exception as error:
        limit.was_sent = _was_sent(error)
        raise


def _was_sent(error: BaseException) -> bool:
    """Whether a request failed after the connection was made."""
    if type(error).__name__ in _UNSENT:
        return False
    if not isinstance(error, httpx.ConnectError):
        return True
    # litellm's transport raises ConnectError for a reset connection, too.
    cause: BaseException | None = error
    while cause is not None:
        if any(kind.__name__ in _UNCONNECTED for kind in type(cause).__mro__):
            return False
        cause = cause.__cause__ or cause.__context__
    return "aiohttp" in type(error.__cause__).__module__


def _asking_for_known_encodings(request: httpx.Request) -> httpx.Request:
    request.headers["accept-encoding"] = "gzip, deflate"
    return request


@dataclass(slots=True)
class _Body:
    """The body of one response, decompressed and counted; that of an error is cut short instead of refused."""

    limit: AnswerLimit
    max_bytes: int
    is_error: bool
    is_stream: bool
    is_document: bool
    is_compressed: bool
    size: int = 0
    event_size: int = 0
    full: bool = False
    _decompressor: zlib._Decompress | None = field(default=None, init=False)

    @classmethod
    def of(cls, response: httpx.Response, limit: AnswerLimit) -> _Body:
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        length = response.headers.pop("content-length", "")
        is_error = response.status_code >= 300
        limit.was_sent = not is_error
        is_supported = encoding in ("gzip", "x-gzip", "deflate", "identity", "")
        content_type = response.headers.get("content-type", "")
        body = cls(
            limit,
            min(_MAX_ERROR, limit.max_bytes) if is_error else limit.max_bytes,
            is_error,
            "event-stream" in content_type,
            content_type.partition(";")[0].strip().lower() in ("application/json", "text/html"),
            encoding not in ("identity", "") and is_supported,
        )
        if not is_supported:
            body.limit.exceeded = f"its encoding was not requested ({encoding[:40]})"
        elif not is_error and length.isdecimal() and len(length) < 20 and int(length) > limit.max_bytes:
            body.limit.exceeded = body.too_large
        return body

    @property
    def too_large(self) -> str:
        return f"it is larger than {self.limit.max_bytes / 2**20:g} MB"

    def check(self) -> None:
        """Raise if the response has been refused already."""
        if self.limit.exceeded:
            raise AnswerTooLarge(self.limit.exceeded)

    def check_whole(self) -> None:
        """Raise if the response was read to its end, is large, and is no answer of a model API."""
        is_checked = self.is_document and not self.is_error and self.size > _UNCHECKED
        if is_checked and not _is_answer(self.limit.received):
            raise self.limit.refuse("it is large and not the answer of a model API")

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decompress data into small pieces, and count them."""
        self.check()
        for piece in self._decompressed(data) if self.is_compressed else (data,):
            room = self.max_bytes - self.size
            self.size += len(piece)
            if len(piece) > room and self.is_error:
                self.full = True
                yield piece[:room]
                return
            if len(piece) > room:
                raise self.limit.refuse(self.too_large)
            self._count_event(piece)
            if not (self.is_error or self.is_stream):
                self.limit.received += piece
            yield piece

    def _count_event(self, piece: bytes) -> None:
        end = piece.rfind(b"\n")
        self.event_size = self.event_size + len(piece) if end < 0 else len(piece) - end
        if self.is_stream and self.event_size > _MAX_EVENT:
            raise self.limit.refuse(f"one of its events is larger than {_MAX_EVENT / 2**20:g} MB")

    def _decompressed(self, data: bytes) -> Iterator[bytes]:
        try:
            if self._decompressor is None:
                # gzip or zlib, by the first byte; some servers omit the header of "deflate"
                raw = data[:1] not in (b"\x1f", b"\x78") and data[:1] != b""
                self._decompressor = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS | 32)
            while data:
                piece = self._decompressor.decompress(data, _PIECE)
                data = self._decompressor.unconsumed_tail
                if piece:
                    yield piece
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from error


def _is_answer(body: bytearray) -> bool:
    """Whether a body is a JSON object without an error, and its choices, if it has any, are messages."""
    try:
        document = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return False
    if not isinstance(document, dict) or document.get("error"):
        return False
    choices = document.get("choices", [])
    return isinstance(choices, list) and all(
        isinstance(choice, dict) and isinstance(choice.get("message", {}), dict) for choice in choices
    )


@dataclass(slots=True)
class _AsyncStream(httpx.AsyncByteStream):
    stream: httpx.AsyncByteStream
    body: _Body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            self.body.check()
            async for data in self.stream:
                for piece in self.body.pieces(data):
                    yield piece
                    # Data that has arrived is read without waiting: let other tasks and timeouts run.
                    await asyncio.sleep(0)
                if self.body.full:
                    break
            self.body.check_whole()
        finally:
            await self.stream.aclose()  # do not read the rest

    async def aclose(self) -> None:
        await self.stream.aclose()


@dataclass(slots=True)
class _SyncStream(httpx.SyncByteStream):
    stream: httpx.SyncByteStream
    body: _Body

    def __iter__(self) -> Iterator[bytes]:
        try:
            self.body.check()
            for data in self.stream:
                yield from self.body.pieces(data)
                if self.body.full:
                    break
            self.body.check_whole()
        finally:
            self.stream.close()

    def close(self) -> None:
        self.stream.close()
