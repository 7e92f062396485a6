"""Truncates texts for a prompt, equally in every checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.capture.capture import Capture

_MORE = " […]"


def beginnings(texts: Mapping[str, str], each: int, in_all: int, capture: Capture) -> dict[str, str]:
    """Truncate each text to `each` characters, and all texts to `in_all` characters together.

    Characters are counted as recorded, without secrets and with paths relative to named roots.
    """
    recorded = {name: capture.text(text) for name, text in texts.items()}
    limit = _limit({name: min(len(text), each) for name, text in recorded.items()}, in_all)
    return {
        name: text if len(recorded[name]) <= limit else str(capture.local(_cut(recorded[name], limit))) + _MORE
        for name, text in texts.items()
    }


def _limit(lengths: Mapping[str, int], in_all: int) -> int:
    """The largest limit on each text with which all texts together fit."""
    remaining = in_all
    for index, length in enumerate(sorted(lengths.values())):
        share = remaining // (len(lengths) - index)
        if length > share:
            return share
        remaining -= length
    return max(lengths.values(), default=0)


def _cut(text: str, limit: int) -> str:
    """Truncate a text, but not inside the name of a root."""
    cut = text[:limit]
    opened = cut.rfind("⟦")
    return cut[:opened] if opened > cut.rfind("⟧") else cut
