"""Which hosts the user allows.

example.org           this host
*.example.org         its subdomains
example.org:8443      this host on this port alone
127.0.0.1:8080        this address on this port, though it is private
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
    """One entry of the list; without a port, it holds for all."""

    host: str
    port: int | None = None

    @classmethod
    def of(cls, text: str) -> AllowedHost:
        """The entry in a text; raises ValueError with what is wrong with it."""
        name, port = text.strip().lower(), None
        if not name or any(letter in name for letter in "/@?# \\\t\n\0"):
            raise ValueError(f"{text!r} is not a host: write example.org, *.example.org or 127.0.0.1:8080")
        if name.startswith("[") and "]" in name:
            name, _, rest = name[1:].partition("]")
            port = rest.removeprefix(":") or None
        elif name.count(":") == 1:
            name, _, port = name.partition(":")
        if port is not None and not (port.isdecimal() and 0 < int(port) < 65536):
            raise ValueError(f"{text!r} has no valid port")
        if "*" in name.removeprefix("*.") and name != "*":
            raise ValueError(f"{text!r} has a `*` that is not at its beginning: write *.example.org")
        return cls(_ascii(name.rstrip(".")), int(port) if port else None)

    def matches(self, host: str, port: int) -> bool:
        """Whether it holds for a host and port."""
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
        """Whether it is this very address, with this port."""
        return self.port is not None and literal(self.host) is not None and self.matches(host, port)


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    import idna  # as httpx has it

    any_below = "*." if name.startswith("*.") else ""
    try:
        return any_below + idna.encode(name.removeprefix("*.")).decode("ascii")
    except idna.IDNAError:
        return name


Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in found]


async def pinned(host: str, port: int, allowed: Sequence[AllowedHost], option: str, find: Resolve = resolve) -> Address:
    """The address to connect to; a name must have public ones alone. `option` is how the user allows a private one."""
    own = literal(host)
    if own is not None:
        if is_public(own) or any(one.grants_private(host, port) for one in allowed):
            return own
        what = f"{host} is a private address"
        shown = f"[{host}]" if ":" in host else host
        raise ToolFault("ACCESS_DENIED", f"{what} — the user allows one with its port: {option} {shown}:{port}")
    try:
        found = [ipaddress.ip_address(address.partition("%")[0]) for address in await find(host, port)]
    except (OSError, UnicodeError, ValueError) as error:
        raise ToolFault("NOT_FOUND", f"{host} has no address: {error} — check its name") from error
    if not found or not all(map(is_public, found)):
        raise ToolFault("ACCESS_DENIED", f"{host} leads to a private address — go on without it")
    return found[0]


def check_host(host: str, port: int, allowed: Sequence[AllowedHost], shown: str) -> None:
    """Raise ToolFault if a host is not among those that the user allows."""
    if not any(one.matches(host, port) for one in allowed):
        known = ", ".join(map(str, allowed)) or "none"
        what = f"{shown} is not among the hosts that the user allows"
        raise ToolFault("ACCESS_DENIED", f"{what} ({known}) — go on without it, and say so")


def system_proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for a host."""
    from urllib.request import getproxies, proxy_bypass

    proxies, own = getproxies(), literal(host)
    if own is not None and not is_public(own):
        return None  # an address of this network is never reached through one
    if proxy_bypass(host):
        return None
    found = proxies.get(scheme) or proxies.get("all")
    return f"http://{found}" if found and "://" not in found else found
