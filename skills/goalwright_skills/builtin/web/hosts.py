"""Allowed hosts, their addresses, and the proxy of the system.

The forms of an allowed host:

example.org           this host
*.example.org         its subdomains
example.org:8443      this host, only on this port
127.0.0.1:8080        this private address on this port
*                     every public host
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.ip_addresses import is_public, literal
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.ip_addresses import Address


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """One allowed host; without a port, all ports are allowed."""

    host: str
    port: int | None = None

    @classmethod
    def of(cls, text: str) -> AllowedHost:
        """Parse an allowed host; raises ValueError."""
        name, port = text.strip().lower(), None
        if not name or any(letter in name for letter in "/@?# \\\t\n\0"):
            raise ValueError(f"{text!r} is not a host: write example.org, *.example.org or 127.0.0.1:8080")
        if name.startswith("[") and "]" in name:
            name, _, suffix = name[1:].partition("]")
            port = suffix.removeprefix(":") or None
        elif name.count(":") == 1:
            name, _, port = name.partition(":")
        if port is not None and not (port.isdecimal() and 0 < int(port) < 65536):
            raise ValueError(f"{text!r} has no valid port")
        if "*" in name.removeprefix("*.") and name != "*":
            raise ValueError(f"{text!r} has a `*` that is not at its beginning: write *.example.org")
        return cls(_ascii(name.rstrip(".")), int(port) if port else None)

    def matches(self, host: str, port: int) -> bool:
        """Return whether a host and port are allowed."""
        if self.port is not None and self.port != port:
            return False
        host = _ascii(host.lower().rstrip("."))
        if self.host == "*":
            return True
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    def grants_private(self, host: str, port: int) -> bool:
        """Return whether this is an allowed address with an explicit port, which may be private."""
        return self.port is not None and literal(self.host) is not None and self.matches(host, port)


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    import idna  # a dependency of httpx

    any_below = "*." if name.startswith("*.") else ""
    try:
        return any_below + idna.encode(name.removeprefix("*.")).decode("ascii")
    except idna.IDNAError:
        return name


Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host."""
    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in rows]


async def pinned(
    host: str, port: int, allowed: Sequence[AllowedHost], setting: str, find: Resolve = resolve
) -> Address:
    """Return the address to connect to; a name must have only public addresses. `setting` allows private ones."""
    address = literal(host)
    if address is not None:
        if is_public(address) or any(one.grants_private(host, port) for one in allowed):
            return address
        problem = f"{host} is a private address"
        shown = f"[{host}]" if ":" in host else host
        raise ToolFault(
            "ACCESS_DENIED", f'{problem} — the user can allow it with its port: {setting} = ["{shown}:{port}"]'
        )
    try:
        addresses = [ipaddress.ip_address(address.partition("%")[0]) for address in await find(host, port)]
    except (OSError, UnicodeError, ValueError) as error:
        raise ToolFault("NOT_FOUND", f"{host} has no address: {error} — check its name") from error
    if not addresses or not all(map(is_public, addresses)):
        raise ToolFault("ACCESS_DENIED", f"{host} leads to a private address — go on without it")
    return addresses[0]


def check_host(host: str, port: int, allowed: Sequence[AllowedHost], shown: str) -> None:
    """Raise ToolFault if the user does not allow a host."""
    if not any(one.matches(host, port) for one in allowed):
        hosts = ", ".join(map(str, allowed)) or "none"
        problem = f"{shown} is not among the hosts that the user allows"
        raise ToolFault("ACCESS_DENIED", f"{problem} ({hosts}) — go on without it, and mention this")


def system_proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment sets for a host."""
    from urllib.request import getproxies, proxy_bypass

    proxies, address = getproxies(), literal(host)
    if address is not None and not is_public(address):
        return None  # private addresses are never reached through a proxy
    if proxy_bypass(host):
        return None
    proxy = proxies.get(scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy
