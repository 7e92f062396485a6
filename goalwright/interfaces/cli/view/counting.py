"""How far long work has come: a line that is redrawn on a terminal, an occasional one elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REDRAW, _LINE = 0.1, 10.0  # seconds
_CLEAR = "\r\x1b[K"


@contextmanager
def counting(text: Callable[[int], str], *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield the function that hears how much is done; `text` says so in a line."""
    drawn = output.is_terminal()
    last = time.monotonic()

    def note(done: int) -> None:
        nonlocal last
        if quiet or time.monotonic() - last < (_REDRAW if drawn else _LINE):
            return
        last = time.monotonic()
        if drawn:
            _write(_CLEAR + text(done))
        else:
            output.say(text(done))

    try:
        yield note
    finally:
        if drawn and not quiet:
            _write(_CLEAR)


def _write(text: str) -> None:
    with suppress(BrokenPipeError):
        sys.stderr.write(text)
        sys.stderr.flush()
