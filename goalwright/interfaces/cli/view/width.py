"""Fits text to the width of a terminal; a width of None, for files and pipes, leaves it unchanged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_INDENT = "    "
_MIN_WIDTH = 20


def of(stream: TextIO) -> int | None:
    """Return the width of the terminal behind a stream; None if it is not a terminal."""
    if not stream.isatty():
        return None
    override = os.environ.get("COLUMNS", "")
    try:
        columns = int(override) if override.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(columns, _MIN_WIDTH) if columns else None


def wrap(text: str, width: int | None, indent: int = 2) -> str:
    """Wrap a text between words; long words such as paths are not broken."""
    if width is None:
        return text
    import textwrap  # slow to import, and often not needed

    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )


def flow(head: str, words: Iterable[str], width: int | None) -> Iterator[str]:
    """Append words to `head`, which keeps its spaces; words that do not fit continue on indented lines."""
    line = head
    for word in words:
        if width is not None and columns(line) + 1 + columns(word) > width:
            yield line
            line = _INDENT + word
        else:
            line += f" {word}"
    yield line


def join(parts: Sequence[str], width: int | None) -> str:
    """Join parts with dots, in one line if they fit; parts are not broken."""
    first, *rest = parts
    return "\n".join(flow(first, (f"· {part}" for part in rest), width))


def cut(text: str, width: int | None) -> str:
    """Cut a text to a width, with an ellipsis if it is too long."""
    if width is None or columns(text) <= width:
        return text
    if width <= 1:
        return "…"[: max(width, 0)]
    from rich.cells import chop_cells

    return chop_cells(text, width - 1)[0] + "…"


def pad(text: str, width: int) -> str:
    """Cut or pad a text to an exact width."""
    fitted = cut(text, width)
    return fitted + " " * (width - columns(fitted))


def columns(text: str) -> int:
    """Return the number of terminal columns of a text; some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # slow to import, and not needed for ASCII

    return cell_len(text)
