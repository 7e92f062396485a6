"""How much of a word's rarity among skills counts: little for the words that every text in a language has.

Among skills in English "und" is as rare as a name, and would speak for the only skill in German whatever a goal in
German asks for. How much a word says in general is told by the encoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.selection.encoder import Table

# A word of this weight says nothing.
NOTHING = 1.0
# From this weight on a word says all that its rarity does. Of English, stop words and everyday words are known; other
# languages have as many.
EVERYTHING, EVERYTHING_FOREIGN = 3.0, 5.0
# What a word says in a script that the encoder does not know.
UNKNOWN = 0.7


def said(words: Mapping[str, str], table: Table | None, *, foreign: bool) -> dict[str, float]:
    """The share of its rarity that counts for each term, given with its spelling; without those that count in full.

    `foreign` are the words of a goal that is not in English.
    """
    if table is None:
        return {}
    most, found = EVERYTHING_FOREIGN if foreign else EVERYTHING, {}
    for term, spelling in words.items():
        weight = table.weight(spelling)
        if weight is None:
            if not spelling.isascii():
                found[term] = UNKNOWN
        elif weight < most:
            found[term] = max(0.0, (weight - NOTHING) / (most - NOTHING))
    return found
