"""Checks token, Host and Origin of each request, and adds the content policy to each response."""

from __future__ import annotations

import hmac
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright.interfaces.web.errors import HttpError, to_dict

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_BODIES = ("application/json", "application/octet-stream")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_Respond = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Hosts:
    """The accepted values of `Host`: anyone can make a name point here, but not an IP address."""

    def __init__(self, host: str, port: int) -> None:
        self._port = port
        self._any_address = host in ("0.0.0.0", "::")  # noqa: S104 - it is compared, not bound
        own = f"[{host}]" if ":" in host else host
        names = {*_LOOPBACK, own.lower(), *((socket.gethostname().lower(),) if self._any_address else ())}
        self._served = {self._with_port(name) for name in names} | (names if port == 80 else set())

    def __contains__(self, host: str) -> bool:
        host = host.lower()
        return host in self._served or (self._any_address and self._is_address(host))

    def _with_port(self, name: str) -> str:
        return f"{name}:{self._port}"

    def _is_address(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return port == str(self._port)


class Guard:
    """Refuses requests without the token, and adds the content policy to each response."""

    def __init__(self, app: ASGIApp, token: str, hosts: Hosts, private: str = "/api") -> None:
        self._app = app
        self._private = private
        self._token = token.encode()
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            return
        private = scope["path"] == self._private or scope["path"].startswith(self._private.rstrip("/") + "/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [*_HEADERS, *(((b"cache-control", b"no-store"),) if private else ())]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        refusal = self._refusal(scope, private=private)
        if refusal is not None:
            await _refuse(refusal, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, *, private: bool) -> HttpError | None:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        host = [value for name, value in headers if name == "host"]
        if len(host) != 1 or host[0] not in self._hosts:
            return HttpError(421, "WRONG_HOST", "this address is not served here", hint="open the address as printed")
        if not all(self._is_ours(value) for name, value in headers if name == "origin") or not all(
            value in ("same-origin", "none") for name, value in headers if name == "sec-fetch-site"
        ):
            return HttpError(
                403, "ANOTHER_SITE", "requests from other sites are not allowed", hint="open the page itself"
            )
        if not private:
            return None  # static files hold no secrets
        if not self.has_token(scope):
            return HttpError(401, "NO_TOKEN", "the token is missing or wrong", hint="open the address as printed")
        if _has_body(headers) and not any(
            value.partition(";")[0].strip().lower() in _BODIES for name, value in headers if name == "content-type"
        ):
            return HttpError(
                415, "WRONG_TYPE", "this type of body is not supported", hint=f"send {' or '.join(_BODIES)}"
            )
        return None

    def has_token(self, scope: Scope) -> bool:
        """Return whether a request has the token."""
        values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
        return len(values) == 1 and self._is_token(values[0])

    def _is_ours(self, origin: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme == "http" and parts.netloc in self._hosts

    def _is_token(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return hmac.compare_digest(token.encode("latin-1"), self._token) and scheme.lower() == "bearer"


def _has_body(headers: Iterable[tuple[str, str]]) -> bool:
    return any(name == "transfer-encoding" or (name == "content-length" and value != "0") for name, value in headers)


async def _refuse(error: HttpError, respond: _Respond) -> None:
    body = json.dumps(to_dict(error)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await respond({"type": "http.response.start", "status": error.status, "headers": headers})
    await respond({"type": "http.response.body", "body": body})
