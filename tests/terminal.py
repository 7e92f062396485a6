"""Runs a program at a pseudo-terminal."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.nursery import Nursery, Process


def start_at_terminal(
    nursery: Nursery, command: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> tuple[Process, int]:
    """Start `goalwright COMMAND` at a terminal; return the process and the test's end of the terminal.

    The process has litellm loaded, so it does not start a shared call process.
    """
    ours, theirs = os.openpty()
    full_env = {**os.environ, "TERM": "xterm", "GOALWRIGHT_HELPER_MINUTES": "0", **env}
    process = nursery.start(
        ["-m", "goalwright", *command], cwd=cwd, env=full_env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    return process, ours


def until(terminal: int, text: bytes | None) -> str:
    """Read a terminal until the text appears or the program ends."""
    shown = b""
    while text is None or text not in shown:
        assert select.select([terminal], [], [], 60)[0], shown
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the program closed it
            break
    return shown.decode("utf-8", "replace")
