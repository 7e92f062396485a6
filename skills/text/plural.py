"""Numbers with their nouns, as people write them."""

from __future__ import annotations


def counted(number: int, noun: str, several: str = "") -> str:
    """`1 task`, `2 tasks`, `1,234 tokens`; `several` is the plural where an s does not make it."""
    return f"{number:,} {plural(number, noun, several)}"


def plural(number: int, noun: str, several: str = "") -> str:
    """The noun as it stands after that number."""
    return noun if number == 1 else several or f"{noun}s"
