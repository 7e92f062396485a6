"""The loopback page to which the browser is redirected at the end of a login."""

from __future__ import annotations

import asyncio
import hmac
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from types import TracebackType

PATH = "/callback"
_HOST = "127.0.0.1"
_HEAD_LIMIT = 16_384
_TIMEOUT = 10.0
_DONE = "You are logged in. You can close this page and return to goalwright."
_UNEXPECTED = "This is not the answer that goalwright is waiting for."
_FAILED = "The login failed. You can close this page; goalwright shows the reason."


@dataclass(slots=True)
class Callback:
    """Listens on loopback for the one request with the expected `state`; all others are refused."""

    port: int = 0
    state: str = ""
    _answer: asyncio.Future[dict[str, str]] = field(init=False)
    _socket: socket.socket = field(init=False)
    _server: asyncio.Server | None = None

    def __post_init__(self) -> None:
        self._answer = asyncio.get_running_loop().create_future()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.bind((_HOST, self.port))
        except OSError as error:
            self._socket.close()
            message = f"the port {self.port} for the login cannot be used: {error.strerror}"
            raise McpFault(message, hint='choose another `callbackPort` in "oauth" of its entry') from error

    @property
    def address(self) -> str:
        """The URL to which the browser is redirected."""
        return f"http://{_HOST}:{self._socket.getsockname()[1]}{PATH}"

    async def __aenter__(self) -> Callback:
        self._server = await asyncio.start_server(self._handle, sock=self._socket, limit=_HEAD_LIMIT)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        if not self._answer.done():
            self._answer.cancel()

    async def answer(self) -> dict[str, str]:
        """Wait for `code`, `state` and `iss` from the browser; raises McpFault for an error."""
        answer = await self._answer
        if "error" in answer:
            reason = printable(answer.get("error_description") or answer["error"])[:200]
            raise McpFault(f"the login was refused: {reason}", hint="try it again")
        return answer

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
            status, text = self._take(head.split(b"\r\n", 1)[0].decode("latin-1"))
            body = text.encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _take(self, line: str) -> tuple[str, str]:
        """Handle a request line; only a request with the expected `state` counts, since any page can send others."""
        method, _, target = line.partition(" ")
        parts = urlsplit(target.partition(" ")[0])
        if method != "GET" or parts.path != PATH:
            return "404 Not Found", _UNEXPECTED
        query = {key: values[0] for key, values in parse_qs(parts.query, max_num_fields=20).items()}
        state = query.get("state", "")
        if not self.state or not hmac.compare_digest(state.encode(), self.state.encode()) or self._answer.done():
            return "400 Bad Request", _UNEXPECTED
        self._answer.set_result(query)
        return ("400 Bad Request", _FAILED) if "error" in query else ("200 OK", _DONE)
