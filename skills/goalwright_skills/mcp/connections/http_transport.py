"""Messages to and from an MCP server at an HTTP address, and the requests of its logins to other hosts."""

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

# A person may need this long to answer a question during a call.
_READ_TIMEOUT = 3_600.0
_LOGIN_SECONDS = 30.0
_LOGIN_LIMIT = 1_000_000
# A compressed answer can be a thousand times as long when it is decompressed.
_UNCOMPRESSED = "identity"


@asynccontextmanager
async def http(launch: ServerLaunch, auth: httpx2.Auth | None = None) -> AsyncIterator[Any]:
    """Yield streams to a server; redirects are followed only within its origin, so that headers stay there."""
    limits = httpx2.Timeout(30.0, read=max(_READ_TIMEOUT, launch.timeout))
    transport = BoundedTransport(LoginAddresses(launch.url))
    headers = {**launch.headers, "Accept-Encoding": _UNCOMPRESSED}
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
    """An HTTP transport that limits the length of answers; event streams have a limit for each event.

    Compressed answers are refused.

    Requests to other URLs than the server's belong to a login: their address is checked and pinned, and their answers
    are limited in length and time. Each has a connection of its own, because a connection to one host must never carry
    a request to another host at the same address.
    """

    def __init__(
        self,
        addresses: LoginAddresses,
        connect: Callable[[], httpx2.AsyncBaseTransport] | None = None,
    ) -> None:
        self._addresses, self._connect = addresses, connect or _connection
        self._server, self._inner = httpx2.URL(addresses.server), self._connect()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the server or, during a login, to another host."""
        if not self._is_server(request.url):
            return await self._send_login(request)
        try:
            addresses = await asyncio.to_thread(lambda: self._addresses.of_server)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        response = await _send(self._inner, request, addresses)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _BoundedStream(response.stream)
        return response

    def _is_server(self, url: httpx2.URL) -> bool:
        server = self._server
        return (url.scheme, url.host, url.port, url.path) == (server.scheme, server.host, server.port, server.path)

    async def _send_login(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await asyncio.to_thread(self._addresses.check, str(request.url))
        try:
            async with asyncio.timeout(_LOGIN_SECONDS), self._connect() as inner:
                response = await _send(inner, request, addresses)
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


async def _send(inner: httpx2.AsyncBaseTransport, request: httpx2.Request, addresses: Sequence[str]) -> httpx2.Response:
    response = await _connect_and_send(inner, request, addresses)
    encoding = response.headers.get("content-encoding", _UNCOMPRESSED).strip().lower()
    if encoding not in ("", _UNCOMPRESSED):
        await response.aclose()
        raise httpx2.DecodingError(
            f"the answer has the content encoding {encoding[:40]!r}, which was not requested", request=request
        )
    return response


async def _connect_and_send(
    inner: httpx2.AsyncBaseTransport, request: httpx2.Request, addresses: Sequence[str]
) -> httpx2.Response:
    """Send a request to the first address that accepts a connection, with the host's name and certificate."""
    host = request.url.host
    if literal(host) is not None:
        return await inner.handle_async_request(request)
    for address in addresses:
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
            if address == addresses[-1]:
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
                raise httpx2.ReadError(f"the answer is longer than {MESSAGE_LIMIT // 1024**2} MB")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
