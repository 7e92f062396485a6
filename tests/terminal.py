"""A pseudo-terminal at which a test sits in front of a program."""

from __future__ import annotations

import os
import select


def until(terminal: int, text: bytes | None) -> str:
    """What a terminal shows until the text appears or the program ends."""
    shown = b""
    while text is None or text not in shown:
        assert select.select([terminal], [], [], 60)[0], shown
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the program closed it
            break
    return shown.decode("utf-8", "replace")
