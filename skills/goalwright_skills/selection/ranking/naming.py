"""Skills that a goal names in passing: by the whole name, or by a word of it that means nothing else.

"cluster it with scanpy" names `scanpy`, and "release notes for 2.1" names `release-notes`. A word that many names have,
or that is ordinary English, names no skill alone; nor does one that many skills use, unless it is the whole name. In
everyday talk a word is what it says: a spanner for a bicycle is not `spanner-basics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.selection.ranking.everyday import is_everyday
from goalwright_skills.selection.triggers import refuses

if TYPE_CHECKING:
    from goalwright_skills.selection.ranking.reading import Passage

# A word that more names have belongs to a family of skills, such as the product that all of them are for.
FEW_NAMES = 2
_FEWEST_LETTERS = 4


def named(whole: Passage) -> dict[int, str]:
    """The skills among those that may fit which the goal names, with the words that do so."""
    found: dict[int, str] = {}
    order = list(whole.words.spelling)
    said = [name for name in whole.fits if whole.fits[name].signals.name > 0]
    for document in said:
        own = whole.pool.spelled_name(document)
        words = list(own)
        if _in_a_row(words, order):
            found[document] = " ".join(whole.words.spelling[word] for word in words)
        elif (len(words) == 1 or not whole.sounds_everyday) and (
            telling := [word for word in words if _is_distinctive(word, own[word], whole, 1 if len(words) == 1 else 0)]
        ):
            found[document] = whole.words.spelling[telling[0]]
    return {document: words for document, words in found.items() if not refuses(whole.text, words.split()[0])}


def _in_a_row(words: list[str], order: list[str]) -> bool:
    """Whether a name of several words, not all everyday ones, is said as it stands."""
    if len(words) < 2 or all(map(is_everyday, words)):
        return False
    return any(order[at : at + len(words)] == words for at in range(len(order)))


def _is_distinctive(term: str, in_name: str, whole: Passage, most: int) -> bool:
    """Whether the goal has a word of a name that is at `most` so common, and that few names have."""
    spelling, table = whole.words.spelling.get(term, ""), whole.pool.table
    if len(spelling) < _FEWEST_LETTERS or is_everyday(term):
        return False
    if table is None or max(table.commonness(spelling), table.commonness(in_name)) > most:
        return False
    return whole.pool.names_with(term) <= FEW_NAMES
