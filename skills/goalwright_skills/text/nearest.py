"""The known names most like an unknown one: "did you mean", and lists of names with the nearest first.

difflib is imported on the first call: most runs never need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

NEAREST = 10
KNOWN = 12


def guess(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The known name that was probably meant; empty if none is similar enough."""
    close = _close(name, known, 1, cutoff)
    return close[0] if close else ""


def nearest(name: str, known: Iterable[str], limit: int = NEAREST) -> list[str]:
    """The known names most like this one, nearest first."""
    import difflib
    import heapq

    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.lower()[:100])

    def likeness(other: str) -> tuple[float, str]:
        matcher.set_seq1(other)
        return -matcher.ratio(), other

    return heapq.nsmallest(limit, known, key=likeness)


def nearest_names(name: str, known: Collection[str]) -> str:
    """The nearest names as text, and how many more there are: `a, b and 3 more`."""
    return _listed(nearest(name, known), len(known)) or "none"


def known_are(name: object, known: Sequence[str]) -> str:
    """The known names for a message, those most like the unknown one first: `known are: a, b and 3 more`.

    Models read this text when a plan is refused, so recorded runs depend on every byte of it.
    """
    if not known:
        return "there are none"
    close = _close(str(name), known, 3, 0.5)
    shown = [*close, *(other for other in known if other not in close)][:KNOWN]
    return f"known are: {_listed(shown, len(known))}"


def _close(name: str, known: Iterable[str], limit: int, cutoff: float) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(known), n=limit, cutoff=cutoff)


def _listed(names: Sequence[str], total: int) -> str:
    more = total - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
