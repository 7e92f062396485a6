"""Which address a name leads to: resolved once, and refused if it is private."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from goalwright_skills import certificates
from goalwright_skills.ip_addresses import is_public, literal
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from goalwright_skills.builtin.web.hosts import AllowedHost
    from goalwright_skills.ip_addresses import Address

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


def web_client(proxy: str | None, seconds: float) -> httpx.AsyncClient:
    """A client that takes nothing of the environment but this proxy; raises ToolFault if that is of another kind."""
    import httpx

    try:
        verify = certificates.trusted(by_environment=False)
        return httpx.AsyncClient(verify=verify, trust_env=False, proxy=proxy, timeout=seconds, max_redirects=0)
    except (ImportError, ValueError, httpx.InvalidURL) as error:  # it may hold a password, so it is not shown
        kind = (proxy or "").partition("://")[0][:20]
        what = f"the web is reached through a proxy of the kind {kind!r} here, which is not supported"
        raise ToolFault("EXECUTION_ERROR", f"{what} — go on without it, and say so") from error
