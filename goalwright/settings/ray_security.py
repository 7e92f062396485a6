"""Who could run code on a cluster: whether it is this machine, and whether Ray asks for a token."""

from __future__ import annotations

import socket
import subprocess
import sys
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


def answers_without_token(address: str, env: Mapping[str, str]) -> bool:
    """Whether a cluster answers someone without a token: that this side has one says nothing about the other."""
    command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "health-check", "--address", address]
    stranger = {name: value for name, value in env.items() if not name.startswith("RAY_AUTH_")}
    asked = subprocess.run(command, env=stranger | {"RAY_AUTH_MODE": "disabled"}, capture_output=True, check=False)
    return asked.returncode == 0


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
