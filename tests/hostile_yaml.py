"""Short YAML that expands beyond any memory."""

from __future__ import annotations


def multiplied(head: str = "", indent: str = "", levels: int = 12) -> str:
    """Return a list whose aliases multiply its size by nine per line."""
    lists = [", ".join([f"*a{level - 1}"] * 9) if level else "x" for level in range(levels)]
    return head + "".join(f"{indent}- &a{level} [{listed}]\n" for level, listed in enumerate(lists))
