"""Starts call processes in their own session: goalwright handles Ctrl-C, and lets calls in progress finish."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The variables of a shared process before a run connects, without keys and proxies.
_PASSED = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "USER", "XDG_CACHE_HOME")


def program(function: str, path: Sequence[str], *arguments: str) -> list[str]:
    """Python's arguments to call a function of `server`, with this search path."""
    code = f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {__package__} import server"
    return ["-c", f"{code}; server.{function}(*sys.argv[2:])", json.dumps(path), *arguments]


def private(*descriptors: int) -> subprocess.Popen[bytes]:
    """Start a process for the sockets with these descriptors."""
    return subprocess.Popen(
        [sys.executable, "-P", *program("serve_private", sys.path, *map(str, descriptors))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=descriptors,
        start_new_session=True,
    )


def shared(cache: Path, idle: float) -> int:
    """Start a process that serves this user's runs; it ends at once if another one already does."""
    path = [entry for entry in sys.path if Path(entry).is_absolute()]
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    command = [sys.executable, "-I", *program("serve_shared", path, str(cache), str(idle))]
    return os.posix_spawn(sys.executable, command, env, file_actions=silent, setsid=True)
