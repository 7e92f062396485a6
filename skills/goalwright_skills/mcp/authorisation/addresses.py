"""Which addresses a login may lead to: never plain HTTP to others, never from outside to a private machine.

A name is looked up once, what it leads to is checked, and that is what is connected to: a name that leads elsewhere
the next time (DNS rebinding) changes nothing.
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

_LONGEST = 4_096


def look_up(host: str) -> list[str]:
    """The addresses of a host; raises OSError if it has none."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


@dataclass(frozen=True)
class LoginAddresses:
    """The addresses that a server may send us to; names are looked up, so not in a loop's thread.

    A server on this machine or in a private network may name others there.
    """

    server: str
    look_up: Callable[[str], list[str]] = field(default=look_up, repr=False)

    @cached_property
    def of_server(self) -> tuple[str, ...]:
        """Where the server itself is, looked up once; raises OSError if it has no address."""
        return tuple(map(str, self._found(urlsplit(self.server).hostname or "")))

    def check(self, url: str) -> tuple[str, ...]:
        """What to connect to for an address that the server names; raises McpFault if it must not name it."""
        host, scheme = _parts(url)
        if scheme != "https" and not _is_loopback(host):
            raise McpFault(f"it names {_shown(url)}, which is not encrypted", hint="tell its author")
        try:
            found = self._found(host)
        except (OSError, UnicodeError) as error:
            raise McpFault(f"it names {_shown(url)}, which has no address", hint="try later") from error
        if not all(map(is_public, found)) and not self._is_private:
            raise McpFault(f"it names {_shown(url)}, which is a private address", hint="do not log in there")
        return tuple(map(str, found))

    @property
    def _is_private(self) -> bool:
        """Whether the server is reached at private addresses alone: it is connected to at these and no others."""
        try:
            return not any(is_public(ipaddress.ip_address(address)) for address in self.of_server)
        except (OSError, UnicodeError):
            return False

    def _found(self, host: str) -> list[Address]:
        own = literal(host)
        if own is not None:
            return [own]
        rows = dict.fromkeys(row.partition("%")[0] for row in self.look_up(host))
        if not rows:
            raise OSError(f"{host} has no address")
        return [ipaddress.ip_address(row) for row in rows]


def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host, has_login, _ = parts.hostname or "", parts.username is not None, parts.port
    except ValueError:
        host, has_login = "", False
    if len(url) > _LONGEST or not url.startswith(("http://", "https://")) or not host or has_login:
        raise McpFault(f"it names the address {url!r:.80}, which cannot be used", hint="tell its author")
    return host, url.partition(":")[0]


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"[:120]


def _is_loopback(host: str) -> bool:
    own = literal(host)
    return own.is_loopback if own is not None else host == "localhost"
