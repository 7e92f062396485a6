"""Which addresses a login may lead to: never plain HTTP to others, never from outside to a private machine."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from weft_skills.mcp.entry import McpFault

_LONGEST = 4_096


def check(url: str, server: str) -> None:
    """Refuse an address that a server at `server` must not send us to; names are looked up, so not in a loop's thread.

    A server on this machine or in a private network may name others there.
    """
    host, scheme = _parts(url)
    if scheme != "https" and not _is_loopback(host):
        raise McpFault(f"it names {_shown(url)}, which is not encrypted", hint="tell its author")
    if _is_private(host) and not _is_private(_parts(server)[0]):
        raise McpFault(f"it names {_shown(url)}, which is a private address", hint="do not log in there")


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
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    """Whether a host is not on the internet; one that cannot be looked up is not reached anyway."""
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return any(not ipaddress.ip_address(str(row[4][0]).partition("%")[0]).is_global for row in rows)
