"""Messages to and from an MCP server at an HTTP address, and the requests of a login there, which lead elsewhere."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from goalwright_skills.ip_addresses import literal
from goalwright_skills.mcp.authorisation.addresses import LoginAddresses
from goalwright_skills.mcp.connections.transport import MESSAGE_LIMIT
from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Sequence

    from goalwright_skills.mcp.entry import ServerLaunch

# A person may take their time to answer what a server asks in the middle of a call.
_LONGEST_SILENCE = 3_600.0
_LOGIN_SECONDS = 30.0
_LOGIN_LIMIT = 1_000_000
# What is packed can be a thousand times as long as what is counted here.
_UNPACKED = "identity"


@asynccontextmanager
async def http(launch: ServerLaunch, auth: httpx2.Auth | None = None) -> AsyncIterator[Any]:
    """Streams to a server at an address. Redirects are followed within its origin only, so headers stay there."""
    limits = httpx2.Timeout(30.0, read=max(_LONGEST_SILENCE, launch.timeout))
    transport = BoundedTransport(LoginAddresses(launch.url))
    headers = {**launch.headers, "Accept-Encoding": _UNPACKED}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=limits, transport=transport, auth=auth) as client,
        streamable_http_client(launch.url, http_client=client) as streams,
    ):
        yield streams


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def _connection() -> httpx2.AsyncHTTPTransport:
    return httpx2.AsyncHTTPTransport(verify=_certificates())


class BoundedTransport(httpx2.AsyncBaseTransport):
    """HTTP whose answers are cut off when they are too long; streams of events have a limit for each event.

    Packed answers are not asked for, and refused.

    What is not sent to the server itself is for a login: where it may go is checked, that very address is connected
    to, and its answers are short and come soon. Each such request has connections of its own: one that was made to a
    host must never carry what is meant for another host at the same address.
    """

    def __init__(
        self,
        addresses: LoginAddresses,
        connect: Callable[[], httpx2.AsyncBaseTransport] | None = None,
    ) -> None:
        self._addresses, self._connect = addresses, connect or _connection
        self._server, self._inner = httpx2.URL(addresses.server), self._connect()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer of the server, or of one that a login leads to."""
        if not self._is_server(request.url):
            return await self._login_answer(request)
        try:
            found = await asyncio.to_thread(lambda: self._addresses.of_server)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        response = await _sent(self._inner, request, found)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _BoundedStream(response.stream)
        return response

    def _is_server(self, url: httpx2.URL) -> bool:
        server = self._server
        return (url.scheme, url.host, url.port, url.path) == (server.scheme, server.host, server.port, server.path)

    async def _login_answer(self, request: httpx2.Request) -> httpx2.Response:
        found = await asyncio.to_thread(self._addresses.check, str(request.url))
        try:
            async with asyncio.timeout(_LOGIN_SECONDS), self._connect() as inner:
                response = await _sent(inner, request, found)
                body = bytearray()
                async for part in response.stream:  # type: ignore[union-attr]
                    body += part
                    if len(body) > _LOGIN_LIMIT:
                        raise McpFault(f"{request.url.host} answered with more than {_LOGIN_LIMIT:,} bytes")
                await response.aclose()
        except TimeoutError:
            raise McpFault(f"{request.url.host} did not answer within {_LOGIN_SECONDS:g} s", hint="try later") from None
        headers = [
            (k, v) for k, v in response.headers.multi_items() if k not in ("transfer-encoding", "content-length")
        ]
        return httpx2.Response(response.status_code, headers=headers, content=bytes(body), request=request)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._inner.aclose()


async def _sent(inner: httpx2.AsyncBaseTransport, request: httpx2.Request, found: Sequence[str]) -> httpx2.Response:
    response = await _answer(inner, request, found)
    packed = response.headers.get("content-encoding", _UNPACKED).strip().lower()
    if packed not in ("", _UNPACKED):
        await response.aclose()
        raise httpx2.DecodingError(f"an answer packed as {packed[:40]!r}, which was not asked for", request=request)
    return response


async def _answer(inner: httpx2.AsyncBaseTransport, request: httpx2.Request, found: Sequence[str]) -> httpx2.Response:
    """The answer from the first of these addresses that can be connected to; the host keeps name and certificate."""
    host = request.url.host
    if literal(host) is not None:
        return await inner.handle_async_request(request)
    for last, address in enumerate(found, 1 - len(found)):
        pinned = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        try:
            return await inner.handle_async_request(pinned)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if last == 0:
                raise
    raise httpx2.ConnectError(f"{host} has no address", request=request)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._inner:
            length += len(part)
            if length > MESSAGE_LIMIT:
                raise httpx2.ReadError(f"an answer of more than {MESSAGE_LIMIT // 1024**2} MB")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
