"""What a terminal without UTF-8 shows in place of the marks that goalwright prints."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = "goalwright_marks"
# One column for one, so that what is aligned stays aligned.
_MARKS = {
    "·": "-", "▶": ">", "✓": "+", "✗": "x", "–": "-", "—": "-", "■": "#", "…": "~", "≈": "~", "×": "x", "←": "<",
    "→": ">", "█": "#", "○": "o", "◇": "*", "│": "|", "─": "-", "└": "`", "┘": "'", "┌": ".", "┐": ".", "├": "|",
    "┤": "|", "┴": "+", "┬": "+", "┼": "+", "•": "*", "“": '"', "”": '"', "‘": "'", "’": "'", "━": "=", "╸": "=",
    "╺": "=", "┃": "|",
}  # fmt: skip


def register() -> str:
    """Make known how marks are written in an encoding that lacks them; returns the name of that error handler."""
    codecs.register_error(_NAME, _replace)
    return _NAME


def encoding(env: Mapping[str, str]) -> str | None:
    """The encoding of a terminal whose locale names one other than UTF-8; None if Python's own choice counts.

    Python writes UTF-8 where the locale is `C` or is not installed, whatever the terminal can show.
    """
    if env.get("PYTHONIOENCODING") or env.get("PYTHONUTF8"):
        return None
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    if locale in ("C", "POSIX"):
        return "ascii"
    charset = locale.partition(".")[2].partition("@")[0]
    try:
        named = codecs.lookup(charset).name if charset else "utf-8"
    except LookupError:
        return None
    return None if named == "utf-8" else named


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """The marks in ASCII; other characters are spelled out."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_MARKS.get(one) or one.encode("ascii", "backslashreplace").decode() for one in text), error.end
