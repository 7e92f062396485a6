"""Whether a plan's instructions contain everything that a goal says, word by word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_planner.small_models.clauses import enumerated
from goalwright_planner.small_models.languages import weak_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"([{_DENSE}]+)|([^\W_{_DENSE}]+)")
_POSSESSIVE = re.compile(r"['’](?:s|re|ve|ll|d|m|t)?(?!\w)|(?<=\w)['’](?=\w)")
_DENSE_WEAK = re.compile(r"然后|接着|随后|之后|最后|并且|以及|首先|同时|请|并|和|再|把|将|の|を|に|は|が|と|て")
# The share of the longer word that two forms of a word have in common: "recommend" and "recommendation".
_SHARED = 0.6
_SHORTEST = 3
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
}


def content_words(text: str) -> list[str]:
    """Return the meaningful words of a text, each once; in scripts without spaces, pairs of characters."""
    weak = weak_words()
    words: dict[str, None] = {}
    for dense, word in _WORD.findall(_POSSESSIVE.sub("", text.casefold())):
        if dense:
            runs = filter(None, _DENSE_WEAK.split(dense))
            words |= dict.fromkeys(
                pair for run in runs for pair in [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            )
        elif word not in weak or word in _NUMBERS:
            words[_NUMBERS.get(word, word)] = None
    return [word for word in words if word != "1"]


def missing(goal: str, instructions: Iterable[str]) -> list[str]:
    """Return the content words of a goal that no instruction has in any form."""
    if listed := enumerated(goal):  # without its numbers
        goal = " ".join((listed.before, *listed.items, listed.after))
    covered = {word for text in instructions for word in content_words(text)}
    starts: dict[str, list[str]] = {}
    for word in covered:
        starts.setdefault(word[:_SHORTEST], []).append(word)
    return [
        word
        for word in content_words(goal)
        if word not in covered and not any(_same(word, other) for other in starts.get(word[:_SHORTEST], ()))
    ]


def phrases_of(goal: str, words: Sequence[str]) -> list[str]:
    """Return content words as the goal writes them, neighbours together: "two sentences" for `2` and `sentences`."""
    selected, phrases, begin, end = set(words), dict[str, None](), 0, -1
    for match in _WORD.finditer(goal):
        normal = content_words(match[0])
        if not normal or not selected.issuperset(normal):
            continue
        if end >= 0 and goal[end : match.start()].isspace():
            phrases.pop(goal[begin:end], None)
        else:
            begin = match.start()
        end = match.end()
        phrases[goal[begin:end]] = None
    shown = {word for phrase in phrases for word in content_words(phrase)}
    return [*phrases, *(word for word in words if word not in shown)]


def _same(word: str, other: str) -> bool:
    """Whether two words are forms of the same word."""
    if word.isdigit() or other.isdigit() or re.match(f"[{_DENSE}]", word):
        return False
    shared = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return shared >= _SHORTEST and shared >= _SHARED * max(len(word), len(other))
