"""The beginnings of texts for a prompt, the same in every checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.capture.capture import Capture

_MORE = " […]"


def beginnings(texts: Mapping[str, str], each: int, in_all: int, capture: Capture) -> dict[str, str]:
    """The texts, each cut to so many characters, and all of them to so many together.

    Characters are counted as recorded, without secrets and with paths relative to named roots.
    """
    recorded = {name: capture.text(text) for name, text in texts.items()}
    allowed = _most({name: min(len(text), each) for name, text in recorded.items()}, in_all)
    return {
        name: text if len(recorded[name]) <= allowed else str(capture.local(_cut(recorded[name], allowed))) + _MORE
        for name, text in texts.items()
    }


def _most(lengths: Mapping[str, int], in_all: int) -> int:
    """How many characters each text may have, so that together they have no more than allowed."""
    left = in_all
    for place, length in enumerate(sorted(lengths.values())):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return max(lengths.values(), default=0)


def _cut(text: str, allowed: int) -> str:
    """The beginning of a text, not cut inside the name of a root."""
    cut = text[:allowed]
    opened = cut.rfind("⟦")
    return cut[:opened] if opened > cut.rfind("⟧") else cut
