"""shorten and what belongs to it."""

from __future__ import annotations


def shorten(text: str, width: int) -> str:
    """The text in one line, cut at a word's end where it is too long."""
    return cut(one_line(text), width)


def one_line(text: str) -> str:
    """The text with every run of blanks as one space."""
    return " ".join(text.split())


def cut(text: str, width: int) -> str:
    """A line cut at a word's end where it is too long."""
    if len(text) <= width:
        return text
    kept = text[: width - 1]
    space = kept.rfind(" ")
    return (kept[:space] if space > width // 2 else kept).rstrip(" ,;:.") + "…"
