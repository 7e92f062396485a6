"""The HTTP proxy of a sandboxed command: it connects to the hosts that the user allows, by the rules of `WebFetch`."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from goalwright_skills.builtin.web.hosts import Resolve, check_host, pinned, resolve, system_proxy
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from goalwright_skills.builtin.web.hosts import AllowedHost

MOST_CONNECTIONS = 64
_SECONDS = 20.0  # for reading a request's head and for connecting
_HEAD_LIMIT = 64 * 1024
_CHUNK = 64 * 1024
# A tunnel can carry any protocol, so a host allowed without a port is only allowed on the ports of the web.
_WEB_PORTS = (80, 443)
_MOST_NAMED = 50
# Hop-by-hop headers.
_DROPPED = ("connection", "host", "keep-alive", "proxy-", "te", "trailer", "upgrade")
_STATUS = {"ACCESS_DENIED": "403 Forbidden", "NOT_FOUND": "502 Bad Gateway", "INVALID_PARAM": "400 Bad Request"}


@dataclass(frozen=True, slots=True)
class _Destination:
    """A client's request: where to connect, and the bytes to send first."""

    scheme: str
    host: str
    port: int
    first: bytes = b""

    @property
    def name(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(slots=True)
class BoxProxy:
    """Serves the connections of one sandbox, which passes its listening socket through `inner`."""

    allowed: Sequence[AllowedHost]
    find: Resolve = resolve
    reached: dict[str, None] = field(default_factory=dict)
    refused: dict[str, None] = field(default_factory=dict)
    inner: socket.socket = field(init=False)
    _outer: socket.socket = field(init=False)
    _server: asyncio.Task[None] | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._outer, self.inner = socket.socketpair()
        self._outer.setblocking(False)
        asyncio.get_running_loop().add_reader(self._outer.fileno(), self._take)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._outer.fileno())
        tasks = [*self._open, *([self._server] if self._server is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._outer.close()
        self.inner.close()

    def _take(self) -> None:
        """Receive the listening socket from the sandbox, once."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            _, handles, _, _ = socket.recv_fds(self._outer, 1, 1)
            loop.remove_reader(self._outer.fileno())
            if handles:
                listening = socket.socket(fileno=handles[0])
                listening.setblocking(False)
                self._server = loop.create_task(self._listen(listening))

    async def _listen(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listening:
            while True:
                client, _ = await loop.sock_accept(listening)
                if len(self._open) >= MOST_CONNECTIONS:
                    client.close()
                    continue
                task = loop.create_task(self._serve(client))
                self._open.add(task)
                task.add_done_callback(self._open.discard)

    async def _serve(self, client: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=client, limit=_HEAD_LIMIT)
        try:
            async with asyncio.timeout(_SECONDS):
                destination = _parsed(await reader.readuntil(b"\r\n\r\n"))
                to_reader, to_writer = await self._connect(destination)
        except ToolFault as fault:
            _refuse(writer, fault)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            _refuse(writer, ToolFault("NOT_FOUND", f"it cannot be reached: {error or type(error).__name__}"))
        else:
            to_writer.write(destination.first)
            if not destination.first:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            try:
                await asyncio.gather(_copy(reader, to_writer), _copy(to_reader, writer))
            finally:
                to_writer.close()
        finally:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1):
                    await writer.drain()
            writer.close()

    async def _connect(self, destination: _Destination) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            check_host(destination.host, destination.port, self.allowed, destination.name)
            _refuse_other_ports(destination, self.allowed)
            _refuse_behind_proxy(destination)
            address = await pinned(destination.host, destination.port, self.allowed, "allow_network_hosts", self.find)
        except ToolFault:
            _name(self.refused, destination.name)
            raise
        _name(self.reached, destination.name)
        return await asyncio.open_connection(str(address), destination.port)


def _refuse_other_ports(destination: _Destination, allowed: Sequence[AllowedHost]) -> None:
    named = any(one.port is not None and one.matches(destination.host, destination.port) for one in allowed)
    if destination.port not in _WEB_PORTS and not named:
        problem = f"{destination.host} is allowed on ports 80 and 443"
        raise ToolFault(
            "ACCESS_DENIED", f"{problem} — the user can allow this one with allow_network_hosts: {destination.name}"
        )


def _refuse_behind_proxy(destination: _Destination) -> None:
    if system_proxy(destination.scheme, destination.host) is not None:
        problem = "the web is reached through a proxy here, so that addresses cannot be checked"
        raise ToolFault("ACCESS_DENIED", f"{problem} — go on without it")


def _name(names: dict[str, None], name: str) -> None:
    if len(names) < _MOST_NAMED:
        names[name] = None


def _parsed(head: bytes) -> _Destination:
    """Parse the head of a proxy request; raises ToolFault if it is invalid."""
    from urllib.parse import urlsplit

    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if any("\n" in line or "\r" in line or line[:1] in (" ", "\t") for line in (first, *lines)):
        # Servers split malformed lines differently and so see different headers.
        raise ToolFault("INVALID_PARAM", "it is not a valid proxy request: a line is malformed")
    try:
        method, target, _ = first.split(" ")
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = (parts.hostname or "").encode("ascii").decode(), parts.port
    except (ValueError, UnicodeError) as error:
        raise ToolFault("INVALID_PARAM", "it is not a valid proxy request") from error
    if method == "CONNECT" and host and port:
        return _Destination("https", host, port)
    if parts.scheme != "http" or not host or parts.username is not None:
        raise ToolFault("INVALID_PARAM", "it is not a valid proxy request: use an http URL or CONNECT")
    kept = [line for line in lines if not line.lower().startswith(_DROPPED)]
    path = parts.path or "/"
    request = f"{method} {path}{f'?{parts.query}' if parts.query else ''} HTTP/1.1"
    name = f"[{host}]" if ":" in host else host
    served = name if port in (None, 80) else f"{name}:{port}"
    rows = [request, f"Host: {served}", "Connection: close", *kept]
    return _Destination("http", host, port or 80, "\r\n".join((*rows, "", "")).encode("latin-1"))


def _refuse(writer: asyncio.StreamWriter, fault: ToolFault) -> None:
    body = f"goalwright: {fault.message}\n".encode()
    head = f"HTTP/1.1 {_STATUS.get(fault.code, '502 Bad Gateway')}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    with contextlib.suppress(OSError):
        writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy data until the end of the stream."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
