"""Who could run code on a cluster: whether it is this machine, and whether Ray asks for a token."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def token_is_set(env: Mapping[str, str]) -> bool:
    """Whether Ray sends and asks for a token: if it is told to, or if it is told nothing and has one."""
    mode = env.get("RAY_AUTH_MODE")
    if mode is not None:
        return mode.lower() == "token"
    if env.get("RAY_AUTH_TOKEN"):
        return True
    path = env.get("RAY_AUTH_TOKEN_PATH")
    return (Path(path) if path else Path(env.get("HOME", "~")).expanduser() / ".ray" / "auth_token").is_file()


def is_this_machine(host: str) -> bool:
    """Whether a host name or address is this machine's own: a socket can be bound to it."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(found) and all(_is_own(family, address) for family, _, _, _, address in found)


def _is_own(family: int, address: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address[0], 0))
        except OSError:
            return False
    return True
