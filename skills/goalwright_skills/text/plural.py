"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, several: str = "") -> str:
    """`1 task`, `2 tasks`, `1,234 tokens`; `several` is an irregular plural."""
    return f"{number:,} {plural(number, noun, several)}"


def plural(number: int, noun: str, several: str = "") -> str:
    """The noun in the form that follows the number."""
    return noun if number == 1 else several or f"{noun}s"
