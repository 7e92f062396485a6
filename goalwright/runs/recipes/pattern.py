"""A goal with parameters in it, and what another goal has in their places.

The words around the parameters are compared one by one, in order, by the cheapest way to turn one goal into the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from goalwright.runs.recipes.words import CONTENT, LIGHT, MOST_CHARACTERS, WEAK, Word, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A goal is like a pattern from here on; measured on pairs of goals (bench/recipes.py).
LIKE = 0.88
_FEWEST_FIXED = 2
_MOST_WORDS = 300
# A value may have these small words, and others only if the default has them: they add to what is asked.
_INSIDE = frozenset(["a", "an", "the", "our", "my", "its", "their", "this", "these"])
_SPARE_WORDS = 4
# In a long goal too, one word that says something else is a word too many.
_MOST_WEIGHT = 8.0
_FAR = float("inf")


@dataclass(frozen=True, slots=True)
class Alignment:
    """How like a goal is to a pattern, 0 to 1, and the text that it has in place of each parameter."""

    score: float
    values: Mapping[str, str]


@dataclass(frozen=True)
class Pattern:
    """A goal's text with `{name}` for each parameter, and what stood in its place first."""

    text: str
    defaults: Mapping[str, str]

    @cached_property
    def _elements(self) -> tuple[Word | str, ...]:
        """The words, and in their places the names of parameters."""
        found: list[Word | str] = []
        at = 0
        for match in re.finditer(r"\{(\w+)\}", self.text):
            if match[1] in self.defaults:
                found += [*words(self.text[at : match.start()]), match[1]]
                at = match.end()
        return _with_edges((*found, *words(self.text[at:])))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters that stand in it, in order."""
        return tuple(element for element in self._elements if isinstance(element, str))

    def filled(self, values: Mapping[str, str]) -> str:
        """The goal with these values."""
        return filled(self.text, values)

    @property
    def is_telling(self) -> bool:
        """Whether enough of it is fixed to recognise a goal by."""
        fixed = sum(1 for element in self._elements if isinstance(element, Word) and element.says_something)
        typed = sum(1 for name in self.names if _form(self.defaults[name]) != ("word",))
        repeated = len(set(self.names)) < len(self.names)
        return fixed + typed >= _FEWEST_FIXED and fixed > 0 and not repeated and not self._touching

    @property
    def _touching(self) -> bool:
        """Whether two parameters stand side by side, so that nothing tells where one ends."""
        return any(isinstance(one, str) and isinstance(other, str) for one, other in pairwise(self._elements))

    def aligned(self, goal: str, least: float = 0.0) -> Alignment | None:
        """How like a goal is; None if it cannot be compared, or has something else in a parameter's place.

        Nor is it compared if it lacks so many words that it cannot be as like as `least`.
        """
        if len(goal) > MOST_CHARACTERS or len(self.text) > MOST_CHARACTERS or not self.is_telling:
            return None
        given = words(goal)
        if len(given) > _MOST_WORDS or len(self._elements) > _MOST_WORDS:
            return None
        fixed, terms = [element for element in self._elements if isinstance(element, Word)], {one.term for one in given}
        whole = min(_MOST_WEIGHT, sum(word.weight for word in fixed))
        if sum(word.weight for word in fixed if word.term not in terms) > (1 - least) * whole:
            return None
        cost, spans = _cheapest(self._elements, given)
        if cost == _FAR:
            return None
        values: dict[str, str] = {}
        for name, (first, last) in spans.items():
            begin, end = first, last
            while end - begin > 1 and given[begin].weight <= LIGHT and _form(self.defaults[name]) != ("word",):
                begin += 1  # "the notes.md"
            while end - begin > 1 and given[end - 1].kind == "mark":
                end -= 1
            if not _fits(given[begin:end], self.defaults[name]):
                return None
            values[name] = _plain(goal[given[begin].start : given[end - 1].end])
        return Alignment(round(max(0.0, 1 - cost / whole), 4), values)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values of the parameters that stand in it; all at once, so that no value is filled again."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def _with_edges(elements: Sequence[Word | str]) -> tuple[Word | str, ...]:
    """The elements; a small word beside a parameter weighs as much as any, since it says where the parameter ends."""

    def is_edge(at: int) -> bool:
        beside = [elements[near] for near in (at - 1, at + 1) if 0 <= near < len(elements)]
        return any(isinstance(one, str) for one in beside)

    return tuple(
        replace(element, weight=CONTENT)
        if isinstance(element, Word) and WEAK <= element.weight < CONTENT and is_edge(at)
        else element
        for at, element in enumerate(elements)
    )


def _cheapest(elements: Sequence[Word | str], given: Sequence[Word]) -> tuple[float, dict[str, tuple[int, int]]]:
    """The lowest cost at which a goal has these elements, and which of its words the parameters take."""
    rows, columns = len(elements), len(given)
    costs = [[_FAR] * (columns + 1) for _ in range(rows + 1)]
    steps: list[list[tuple[int, int]]] = [[(0, 0)] * (columns + 1) for _ in range(rows + 1)]
    costs[0][0] = 0.0
    for row in range(rows + 1):
        if row and isinstance(elements[row - 1], str):
            _take(costs[row - 1], costs[row], steps[row], row - 1)
        for column in range(columns + 1):
            _reach(elements, given, costs, steps, row, column)
    spans: dict[str, tuple[int, int]] = {}
    row, column = rows, columns
    while (row or column) and costs[rows][columns] < _FAR:
        before = steps[row][column]
        if row > before[0] and isinstance(name := elements[before[0]], str):
            spans[name] = (before[1], column)
        row, column = before
    return costs[rows][columns], spans


def _take(before: Sequence[float], here: list[float], steps: list[tuple[int, int]], row: int) -> None:
    """Let a parameter take one word or more: of all beginnings the cheapest, and of these the last."""
    best, begin = _FAR, 0
    for column in range(1, len(here)):
        if before[column - 1] <= best:
            best, begin = before[column - 1], column - 1
        if best < here[column]:
            here[column], steps[column] = best, (row, begin)


def _reach(
    elements: Sequence[Word | str],
    given: Sequence[Word],
    costs: list[list[float]],
    steps: list[list[tuple[int, int]]],
    row: int,
    column: int,
) -> None:
    """Reach a place by a word that both have, by one that only the pattern has, or by one that only the goal has."""
    element = elements[row - 1] if row else ""
    ways: list[tuple[float, tuple[int, int]]] = []
    if isinstance(element, Word):
        if column and element.term == given[column - 1].term:
            ways.append((costs[row - 1][column - 1], (row - 1, column - 1)))
        ways.append((costs[row - 1][column] + element.weight, (row - 1, column)))
    if column:
        ways.append((costs[row][column - 1] + given[column - 1].weight, (row, column - 1)))
    for cost, before in ways:
        if cost < costs[row][column]:
            costs[row][column], steps[row][column] = cost, before


def _form(text: str) -> tuple[str, ...]:
    """The kinds of things in a text, without small words: a path is replaced by a path, a number by a number."""
    found = words(text)
    if len(found) == 1 and found[0].is_typed:
        return (found[0].kind,)
    return ("word",)


def _fits(value: Sequence[Word], default: str) -> bool:
    """Whether words can stand in the place of a default: of its form, as short, and without a further request."""
    form = _form(default)
    if form != ("word",):
        return len(value) == 1 and value[0].kind == form[0]
    if len(value) == 1:
        return value[0].kind in ("word", "quoted")
    usual = words(default)
    if len(value) > len(usual) + _SPARE_WORDS or not any(word.is_content for word in value):
        return False
    known = {word.term for word in usual if not word.is_content} | _INSIDE
    return all(
        word.term in known if not word.is_content else word.kind == "word" and word.weight == 1.0 for word in value
    )


def _plain(text: str) -> str:
    """A value without the quotation marks around it."""
    return text[1:-1] if len(text) > 2 and text[0] in "\"“`'" and text[-1] in "\"”`'" else text
