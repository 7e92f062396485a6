"""Limits on what a provider may send: answers are counted, unpacked in small pieces and cut while they are read.

litellm reads whole answers, of any size, and then searches them in the event loop: a large one stops everything else,
timeouts included. All of its clients are httpx underneath: the limit is kept there, for calls that ask for it.
"""

from __future__ import annotations

import asyncio
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

# An answer of a million tokens is smaller.
MAX_ANSWER = 8 * 2**20
# One event of a streamed answer: clients search the whole of it again with every piece that arrives.
_MAX_EVENT = 2 * 2**20
# Enough for what an error says; the rest is not read.
_MAX_ERROR = 64 * 2**10
_PIECE = 256 * 2**10


class AnswerTooLarge(Exception):
    """A provider sent more than a call accepts."""


# Errors of a request that never left: there was no connection.
_UNSENT = ("ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError")
_UNCONNECTED = ("ClientConnectorError", "ConnectionRefusedError", "gaierror")


@dataclass(slots=True)
class AnswerLimit:
    """What a call accepts; `exceeded` says why its answer was refused, if it was.

    `was_sent` says whether the provider has the request and has not refused it, `received` what came of an answer
    that is not streamed.
    """

    most: int = MAX_ANSWER
    exceeded: str = ""
    was_sent: bool = False
    received: bytearray = field(default_factory=bytearray)

    def refuse(self, why: str) -> AnswerTooLarge:
        """The error for an answer that is not read to its end."""
        self.exceeded = why
        return AnswerTooLarge(why)


_limit: ContextVar[AnswerLimit | None] = ContextVar("answer_limit", default=None)


@contextmanager
def limited(limit: AnswerLimit) -> Iterator[AnswerLimit]:
    """Keep to this limit in all HTTP calls made within."""
    token = _limit.set(limit)
    try:
        yield limit
    finally:
        _limit.reset(token)


def install() -> None:
    """Make every httpx client obey `limited`, once; calls outside of it are not touched."""
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
    """Note whether a request has left, whatever becomes of it."""
    limit.was_sent = True
    limit.received.clear()
    try:
        yield
    except Exception as error:
        limit.was_sent = _has_left(error)
        raise


def _has_left(error: BaseException) -> bool:
    """Whether a request failed after there was a connection to send it over."""
    if type(error).__name__ in _UNSENT:
        return False
    if not isinstance(error, httpx.ConnectError):
        return True
    # litellm's transport calls a reset connection so, too.
    seen: BaseException | None = error
    while seen is not None:
        if any(kind.__name__ in _UNCONNECTED for kind in type(seen).__mro__):
            return False
        seen = seen.__cause__ or seen.__context__
    return "aiohttp" in type(error.__cause__).__module__


def _asking_for_known_encodings(request: httpx.Request) -> httpx.Request:
    request.headers["accept-encoding"] = "gzip, deflate"
    return request


@dataclass(slots=True)
class _Body:
    """The body of one answer: unpacked and counted. An error's is cut short instead of refused."""

    limit: AnswerLimit
    most: int
    is_error: bool
    is_stream: bool
    packed: bool
    seen: int = 0
    event: int = 0
    full: bool = False
    _unpacker: zlib._Decompress | None = field(default=None, init=False)

    @classmethod
    def of(cls, response: httpx.Response, limit: AnswerLimit) -> _Body:
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        length = response.headers.pop("content-length", "")
        is_error = response.status_code >= 300
        limit.was_sent = not is_error
        is_supported = encoding in ("gzip", "x-gzip", "deflate", "identity", "")
        body = cls(
            limit,
            min(_MAX_ERROR, limit.most) if is_error else limit.most,
            is_error,
            "event-stream" in response.headers.get("content-type", ""),
            encoding not in ("identity", "") and is_supported,
        )
        if not is_supported:
            body.limit.exceeded = f"it came in an encoding that was not asked for ({encoding[:40]})"
        elif not is_error and length.isdecimal() and len(length) < 20 and int(length) > limit.most:
            body.limit.exceeded = body.too_large
        return body

    @property
    def too_large(self) -> str:
        return f"it is larger than {self.limit.most / 2**20:g} MB"

    def check(self) -> None:
        """Raise if it is known by now that the answer is not wanted."""
        if self.limit.exceeded:
            raise AnswerTooLarge(self.limit.exceeded)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The data as it is passed on, in small pieces."""
        self.check()
        for piece in self._unpacked(data) if self.packed else (data,):
            room = self.most - self.seen
            self.seen += len(piece)
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
        self.event = self.event + len(piece) if end < 0 else len(piece) - end
        if self.is_stream and self.event > _MAX_EVENT:
            raise self.limit.refuse(f"an event of it is larger than {_MAX_EVENT / 2**20:g} MB")

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        try:
            if self._unpacker is None:
                # gzip or zlib, by the first bytes; some servers leave out the header of "deflate"
                raw = data[:1] not in (b"\x1f", b"\x78") and data[:1] != b""
                self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS | 32)
            while data:
                piece = self._unpacker.decompress(data, _PIECE)
                data = self._unpacker.unconsumed_tail
                if piece:
                    yield piece
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from error


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
                    # What has arrived is read without waiting: let others have their turn, and timeouts take effect.
                    await asyncio.sleep(0)
                if self.body.full:
                    break
        finally:
            await self.stream.aclose()  # hang up: the rest is not wanted

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
        finally:
            self.stream.close()

    def close(self) -> None:
        self.stream.close()
