"""Text on one line, cut to a width."""

from __future__ import annotations


def shorten(text: str, width: int) -> str:
    """The text on one line, cut at the end of a word if it is too long."""
    return cut(one_line(text), width)


def one_line(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())


def spelled(path: object) -> str:
    """A path with its line ends spelled out: what a stranger's folder is called begins no line of its own."""
    return str(path).replace("\n", "\\n").replace("\r", "\\r")


def cut(text: str, width: int) -> str:
    """A line cut at the end of a word if it is too long."""
    if len(text) <= width:
        return text
    kept = text[: width - 1]
    space = kept.rfind(" ")
    return (kept[:space] if space > width // 2 else kept).rstrip(" ,;:.") + "…"


def clip(text: str, width: int) -> str:
    """A text cut anywhere if it is too long."""
    return text if len(text) <= width else text[: width - 1] + "…"
