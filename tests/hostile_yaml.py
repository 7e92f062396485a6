"""YAML that is short, and means more than any memory holds."""

from __future__ import annotations


def multiplied(head: str = "", indent: str = "", levels: int = 12) -> str:
    """A list below a head, whose items repeat each other by aliases: nine times as much on each line."""
    lists = [", ".join([f"*a{level - 1}"] * 9) if level else "x" for level in range(levels)]
    return head + "".join(f"{indent}- &a{level} [{listed}]\n" for level, listed in enumerate(lists))
