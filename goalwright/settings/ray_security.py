"""Whether a Ray cluster is this machine, and whether it requires a token: else anyone in its network can run code."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def token_is_set(env: Mapping[str, str]) -> bool:
    """Whether Ray sends and requires a token: by its configured mode, else if it has a token."""
    mode = env.get("RAY_AUTH_MODE")
    if mode is not None:
        return mode.lower() == "token"
    if env.get("RAY_AUTH_TOKEN"):
        return True
    path = env.get("RAY_AUTH_TOKEN_PATH")
    return (Path(path) if path else Path(env.get("HOME", "~")).expanduser() / ".ray" / "auth_token").is_file()


def answers_without_token(address: str, env: Mapping[str, str]) -> bool:
    """Whether a cluster answers a client without a token; a token on this side does not prove that it requires one."""
    command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "health-check", "--address", address]
    without_token = {name: value for name, value in env.items() if not name.startswith("RAY_AUTH_")}
    env = without_token | {"RAY_AUTH_MODE": "disabled"}
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0


def is_this_machine(host: str) -> bool:
    """Whether a host name or address is this machine's own, so that a socket can be bound to it."""
    try:
        addresses = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(addresses) and all(_is_own(family, address) for family, _, _, _, address in addresses)


def _is_own(family: int, address: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address[0], 0))
        except OSError:
            return False
    return True
