"""Text that fits a terminal; what goes elsewhere, such as into a file or another program, is left whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_INDENT = "    "
_NARROWEST = 20


def of(stream: TextIO) -> int | None:
    """The columns of the terminal that a stream goes to; None where it goes to none."""
    if not stream.isatty():
        return None
    set_by_hand = os.environ.get("COLUMNS", "")
    try:
        columns = int(set_by_hand) if set_by_hand.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(columns, _NARROWEST) if columns else None


def wrapped(text: str, width: int | None, indent: int = 2) -> str:
    """The text with lines that end between words; a word that is too long, such as a path, stays whole."""
    if width is None:
        return text
    import textwrap  # not sooner: a list of skills has no use for it

    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )


def flowed(head: str, words: Iterable[str], width: int | None) -> Iterator[str]:
    """A line that begins with `head`, whose spaces count, and goes on with words; those without room stand below."""
    line = head
    for word in words:
        if width is not None and columns(line) + 1 + columns(word) > width:
            yield line
            line = _INDENT + word
        else:
            line += f" {word}"
    yield line


def joined(parts: Sequence[str], width: int | None) -> str:
    """Parts that are told in one line where there is room; none of them is parted."""
    first, *rest = parts
    return "\n".join(flowed(first, (f"· {part}" for part in rest), width))


def cut(text: str, width: int | None) -> str:
    """The text, or as much of it as there is room for."""
    if width is None or columns(text) <= width:
        return text
    if width <= 1:
        return "…"[: max(width, 0)]
    from rich.cells import chop_cells

    return chop_cells(text, width - 1)[0] + "…"


def padded(text: str, width: int) -> str:
    """The text in a column of its own."""
    shown = cut(text, width)
    return shown + " " * (width - columns(shown))


def columns(text: str) -> int:
    """The columns that a text takes: a character of some languages takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # not sooner: most texts need no table to be measured

    return cell_len(text)
