"""Unified diffs in bounded time.

difflib compares each line with every equal line: a million lines that each occur a thousand times would take days. If
there are too many such pairs, only the lines between the common start and end are compared; if there are still too
many, the old lines are replaced by the new ones as a block.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_PAIRS = 1_000_000
_Change = tuple[str, int, int, int, int]  # an opcode of difflib


def line_difference(old: Sequence[str], new: Sequence[str], a: str, b: str, end: str = "\n") -> Iterator[str]:
    """Return the lines of a unified diff; `end` terminates the header lines."""
    from difflib import SequenceMatcher, unified_diff  # slow to import, and most runs change no file

    if _pairs(old, new) <= MOST_PAIRS:
        yield from unified_diff(old, new, a, b, lineterm=end)
        return
    groups = SequenceMatcher(None, "", "")
    groups.opcodes = _changes(old, new)  # type: ignore[attr-defined]  # private: makes `get_grouped_opcodes` use these
    yield f"--- {a}{end}"
    yield f"+++ {b}{end}"
    for group in groups.get_grouped_opcodes():
        yield f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@{end}"
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from (f" {line}" for line in old[i1:i2])
                continue
            yield from (f"-{line}" for line in old[i1:i2])
            yield from (f"+{line}" for line in new[j1:j2])


def _changes(old: Sequence[str], new: Sequence[str]) -> list[_Change]:
    """Return opcodes: the equal lines at both ends, and a comparison of the lines between them if it is affordable."""
    from difflib import SequenceMatcher

    first = _equal(old, new)
    last = _equal(old[first:][::-1], new[first:][::-1])
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    between: list[_Change] = [("replace", 0, len(before), 0, len(after))]
    if _pairs(before, after) <= MOST_PAIRS:
        between = list(SequenceMatcher(None, before, after).get_opcodes())
    moved = [(kind, i1 + first, i2 + first, j1 + first, j2 + first) for kind, i1, i2, j1, j2 in between]
    ends = ("equal", 0, first, 0, first), ("equal", len(old) - last, len(old), len(new) - last, len(new))
    return [change for change in (ends[0], *moved, ends[1]) if change[1] < change[2] or change[3] < change[4]]


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the pairs of equal lines that difflib compares; it ignores very frequent lines of long texts."""
    counts = Counter(new)
    popular = len(new) // 100 + 1 if len(new) >= 200 else len(new)
    return sum(count for line in old if (count := counts[line]) <= popular)


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the equal lines at the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _range(start: int, stop: int) -> str:
    return f"{start + 1 if stop > start else start},{stop - start}"
