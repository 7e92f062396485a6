"""The weights of BM25: the rarity of a term, its frequency in a text, and the length of the text.

    score = BM25(short) + 1.5 BM25(whole)      short: name three times, description, when_to_use; whole: short and body

Tuned on pools of 26 to 8,600 skills with 1,600 goals; the constants are on a plateau, so small changes do little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WHOLE = 1.5
B = 0.45
# In a small pool rarity means nothing, so it counts as a pool of this many skills.
MIN_POOL = 30
FEW, MANY = 5.0, 1.2


def saturation(count: int) -> float:
    """Return BM25's k1 for a pool of `count` skills.

    Among few skills, the frequency of a word tells them apart; among thousands, its presence does.
    """
    return MANY + (FEW - MANY) * math.pow(MIN_POOL / max(count, MIN_POOL), 0.4)


def idf(count: int, having: int) -> float:
    """Return the weight of a term that `having` of `count` skills have."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


@dataclass(frozen=True, slots=True)
class Rule:
    """BM25 for one pool: the number of skills, k1, and the length norms of the short and whole texts."""

    count: int
    k1: float
    short: Sequence[float]
    whole: Sequence[float]

    @classmethod
    def of(cls, spans: Sequence[int], count: int) -> Rule:
        """Compute the rule of a pool of `count` skills; `spans` has a start, a short end and an end per text."""
        starts, shorts, ends = spans[::3], spans[1::3], spans[2::3]
        k1 = saturation(count)
        short = _norms([short - start for start, short in zip(starts, shorts, strict=True)], k1)
        whole = _norms([end - start for start, end in zip(starts, ends, strict=True)], k1)
        return cls(max(count, MIN_POOL), k1, short, whole)

    def rarity(self, in_short: int, in_whole: int) -> tuple[float, float]:
        """Return the weight of a term in a short and in a whole text, by the number of skills that have it there."""
        return idf(self.count, in_short), WHOLE * idf(self.count, in_whole)

    def adds(
        self,
        skills: Iterable[int],
        in_short: Iterable[int],
        in_whole: Iterable[int],
        rarities: Iterable[tuple[float, float]],
    ) -> list[float]:
        """Return what terms with these frequencies add to the scores of skills."""
        factor, short, whole = self.k1 + 1, self.short, self.whole
        return [
            factor * common * count / (count + whole[skill])
            + (factor * rare * brief / (brief + short[skill]) if brief else 0.0)
            for skill, brief, count, (rare, common) in zip(skills, in_short, in_whole, rarities, strict=True)
        ]


def _norms(lengths: Sequence[int], k1: float) -> list[float]:
    """Return the length norm of each text, which BM25 adds to the frequency of a term."""
    mean = (sum(lengths) / len(lengths) if lengths else 0) or 1.0
    return [k1 * (1 - B + B * length / mean) for length in lengths]
