"""Formats numbers, amounts, names and long texts for messages and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

NEAREST = 10
KNOWN = 12
_SMALLEST_DOLLARS = 0.0001


def counted(number: int, noun: str, several: str = "") -> str:
    """Format a count: `1 task`, `2 tasks`, `1,234 tokens`; `several` is an irregular plural."""
    return f"{number:,} {plural(number, noun, several)}"


def plural(number: int, noun: str, several: str = "") -> str:
    """Return the singular or plural of a noun."""
    return noun if number == 1 else several or f"{noun}s"


def dollars(amount: float) -> str:
    """Format an amount as `$0.0123`; less than a hundredth of a cent keeps two significant digits: `$0.0000012`."""
    return f"${amount:.4f}" if not 0 < amount < _SMALLEST_DOLLARS else f"${plain(amount, 2)}"


def short_dollars(amount: float) -> str:
    """Format an amount as `$1.23`; less than a cent is formatted as in `dollars`."""
    return f"${amount:.2f}" if not 0 < amount < 0.01 else dollars(amount)


def plain(number: float, digits: int = 12) -> str:
    """Round a number to significant digits and format it without an exponent: `0.000001`, not `1e-06`."""
    from decimal import Decimal

    return f"{Decimal(f'{number:.{digits}g}'):f}"


def one_line(text: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(text.split())


def shorten(text: str, width: int) -> str:
    """Put a text on one line and cut it at a word boundary if it is too long."""
    return cut(one_line(text), width)


def cut(text: str, width: int) -> str:
    """Cut a line at a word boundary if it is too long."""
    if len(text) <= width:
        return text
    kept = text[: width - 1]
    space = kept.rfind(" ")
    return (kept[:space] if space > width // 2 else kept).rstrip(" ,;:.") + "…"


def clip(text: str, width: int) -> str:
    """Cut a text at any character if it is too long."""
    return text if len(text) <= width else text[: width - 1] + "…"


def spelled(path: object) -> str:
    """Escape the line breaks of a path, so that an untrusted folder name cannot start a line of its own."""
    return str(path).replace("\n", "\\n").replace("\r", "\\r")


def escape(text: str) -> str:
    """Escape the content of an XML element (`xml.sax.saxutils` would import an HTTP client)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def guess(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known name that was probably meant, or an empty string if none is similar enough."""
    close = _close(name, known, 1, cutoff)
    return close[0] if close else ""


def nearest(name: str, known: Iterable[str], limit: int = NEAREST) -> list[str]:
    """Return the known names most similar to a name, nearest first."""
    import difflib
    import heapq

    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.lower()[:100])

    def likeness(other: str) -> tuple[float, str]:
        matcher.set_seq1(other)
        return -matcher.ratio(), other

    return heapq.nsmallest(limit, known, key=likeness)


def nearest_names(name: str, known: Collection[str]) -> str:
    """List the nearest names and count the others: `a, b and 3 more`."""
    return _listed(nearest(name, known), len(known)) or "none"


def known_are(name: object, known: Sequence[str]) -> str:
    """List the known names for an error message, those most similar to a name first: `known are: a, b and 3 more`."""
    if not known:
        return "there are none"
    close = _close(str(name), known, 3, 0.5)
    shown = [*close, *(other for other in known if other not in close)][:KNOWN]
    return f"known are: {_listed(shown, len(known))}"


def _close(name: str, known: Iterable[str], limit: int, cutoff: float) -> list[str]:
    from difflib import get_close_matches  # most runs never need it

    return get_close_matches(name, list(known), n=limit, cutoff=cutoff)


def _listed(names: Sequence[str], total: int) -> str:
    more = total - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
