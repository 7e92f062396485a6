"""Who may ask: the token, the Host, the Origin; and the content policy on every answer."""

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
    """Which values of Host are served: names could be made to point here by anyone, numbers could not."""

    def __init__(self, host: str, port: int) -> None:
        self._port = port
        self._any_number = host in ("0.0.0.0", "::")  # noqa: S104 - it is compared, not bound
        own = f"[{host}]" if ":" in host else host
        names = {*_LOOPBACK, own.lower(), *((socket.gethostname().lower(),) if self._any_number else ())}
        self._served = {self._with_port(name) for name in names} | (names if port == 80 else set())

    def __contains__(self, host: str) -> bool:
        host = host.lower()
        return host in self._served or (self._any_number and self._is_number(host))

    def _with_port(self, name: str) -> str:
        return f"{name}:{self._port}"

    def _is_number(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return port == str(self._port)


class Guard:
    """Refuses everyone but the person who was given the token, and seals every answer with the content policy."""

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

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [*_HEADERS, *(((b"cache-control", b"no-store"),) if private else ())]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        refusal = self._refusal(scope, private=private)
        if refusal is not None:
            await _refuse(refusal, sealed)
        else:
            await self._app(scope, receive, sealed)

    def _refusal(self, scope: Scope, *, private: bool) -> HttpError | None:
        heads = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        host = [value for name, value in heads if name == "host"]
        if len(host) != 1 or host[0] not in self._hosts:
            return HttpError(421, "WRONG_HOST", "this address is not served here", hint="open the address as printed")
        if not all(self._is_ours(value) for name, value in heads if name == "origin") or not all(
            value in ("same-origin", "none") for name, value in heads if name == "sec-fetch-site"
        ):
            return HttpError(
                403, "ANOTHER_SITE", "requests from other sites are not allowed", hint="open the page itself"
            )
        if not private:
            return None  # static files hold no secrets
        if not self.has_token(scope):
            return HttpError(401, "NO_TOKEN", "the token is missing or wrong", hint="open the address as printed")
        if _has_body(heads) and not any(
            value.partition(";")[0].strip().lower() in _BODIES for name, value in heads if name == "content-type"
        ):
            return HttpError(
                415, "WRONG_TYPE", "this type of body is not supported", hint=f"send {' or '.join(_BODIES)}"
            )
        return None

    def has_token(self, scope: Scope) -> bool:
        """Whether a request shows the token."""
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and self._is_token(given[0])

    def _is_ours(self, origin: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme == "http" and parts.netloc in self._hosts

    def _is_token(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return hmac.compare_digest(token.encode("latin-1"), self._token) and scheme.lower() == "bearer"


def _has_body(heads: Iterable[tuple[str, str]]) -> bool:
    return any(name == "transfer-encoding" or (name == "content-length" and value != "0") for name, value in heads)


async def _refuse(error: HttpError, respond: _Respond) -> None:
    body = json.dumps(to_dict(error)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await respond({"type": "http.response.start", "status": error.status, "headers": headers})
    await respond({"type": "http.response.body", "body": body})
