"""The addresses that a login may use: no plain HTTP to other machines, no private address from a public server.

A name is resolved once, and the checked address is the one that is connected to, which prevents DNS rebinding.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from goalwright_skills.ip_addresses import is_public, literal
from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_skills.ip_addresses import Address

_URL_LIMIT = 4_096


def resolve(host: str) -> list[str]:
    """Resolve a host to its addresses; raises OSError if it has none."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


@dataclass(frozen=True)
class LoginAddresses:
    """The addresses that a server may name; resolving blocks, so it must not run in an event loop's thread.

    A server on this machine or in a private network may name private addresses.
    """

    server: str
    resolve: Callable[[str], list[str]] = field(default=resolve, repr=False)

    @cached_property
    def of_server(self) -> tuple[str, ...]:
        """The addresses of the server itself, resolved once; raises OSError if it has none."""
        return tuple(map(str, self._addresses(urlsplit(self.server).hostname or "")))

    def check(self, url: str) -> tuple[str, ...]:
        """Return the addresses to connect to for a URL; raises McpFault if the server may not name it."""
        host, scheme = _parts(url)
        if scheme != "https" and not _is_loopback(host):
            raise McpFault(f"it names {_origin(url)}, which is not encrypted", hint="report it to its author")
        try:
            addresses = self._addresses(host)
        except (OSError, UnicodeError) as error:
            raise McpFault(f"it names {_origin(url)}, which has no address", hint="try later") from error
        if not all(map(is_public, addresses)) and not self._is_private:
            raise McpFault(f"it names {_origin(url)}, which is a private address", hint="do not log in there")
        return tuple(map(str, addresses))

    @property
    def _is_private(self) -> bool:
        """Whether the server has only private addresses."""
        try:
            return not any(is_public(ipaddress.ip_address(address)) for address in self.of_server)
        except (OSError, UnicodeError):
            return False

    def _addresses(self, host: str) -> list[Address]:
        address = literal(host)
        if address is not None:
            return [address]
        rows = dict.fromkeys(row.partition("%")[0] for row in self.resolve(host))
        if not rows:
            raise OSError(f"{host} has no address")
        return [ipaddress.ip_address(row) for row in rows]


def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host, has_login, _ = parts.hostname or "", parts.username is not None, parts.port
    except ValueError:
        host, has_login = "", False
    if len(url) > _URL_LIMIT or not url.startswith(("http://", "https://")) or not host or has_login:
        raise McpFault(f"it names the address {url!r:.80}, which cannot be used", hint="report it to its author")
    return host, url.partition(":")[0]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"[:120]


def _is_loopback(host: str) -> bool:
    address = literal(host)
    return address.is_loopback if address is not None else host == "localhost"
