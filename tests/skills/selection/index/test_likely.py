"""The skills with the highest scores by words, compared with a full sum."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from heapq import nlargest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_skills.selection.index.likely import Likely, Span, highest
from goalwright_skills.selection.index.numbering import Numbering

COUNT = 40
FLOATS = st.floats(1 / 64, 30.0, width=32)
# Few different adds make ties.
ADDS = st.one_of(FLOATS, st.sampled_from([1.0, 2.0, 3.0, 0.1]))
LIST = st.dictionaries(st.integers(0, COUNT - 1), ADDS, max_size=COUNT)


@dataclass
class Index:
    """The lists of an index, one after the other."""

    ids: memoryview[int]
    adds: memoryview[float]
    count: int


def indexed(lists: list[dict[int, float]]) -> tuple[Index, list[tuple[int, int]]]:
    ids, adds, spans = array("I"), array("f"), []
    for one in lists:
        order = sorted(one, key=lambda at: -one[at])
        spans.append((len(ids), len(ids) + len(order)))
        ids.extend(order)
        adds.extend(one[at] for at in order)
    return Index(memoryview(ids.tobytes()).cast("I"), memoryview(adds.tobytes()).cast("f"), COUNT), spans


def plain(parts: list[Index], spans: list[list[Span]], numbering: Numbering) -> dict[int, float]:
    """The score of every skill by adding up all lists, term by term."""
    scores: dict[int, float] = {}
    for term in range(max(map(len, spans), default=0)):
        for at, part in enumerate(parts):
            first, end, times, share = spans[at][term]
            for local, add in zip(part.ids[first:end], part.adds[first:end], strict=True):
                if (number := numbering.numbers[at][local]) >= 0:
                    scores[number] = scores.get(number, 0.0) + share * times * add
    return scores


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[Index], list[list[Span]], Numbering]:
    shares = draw(st.lists(st.one_of(st.floats(0.05, 1.0), st.just(0.0), st.just(1.0)), max_size=6))
    parts, spans, kept = [], [], []
    for _ in range(draw(st.integers(1, 5))):
        part, where = indexed([draw(LIST) for _ in shares])
        times = [draw(st.one_of(st.floats(0.2, 4.0), st.just(1.0))) for _ in shares]
        parts.append(part)
        spans.append([(*one, more, share) for one, more, share in zip(where, times, shares, strict=True)])
        gone = draw(st.sets(st.integers(0, COUNT - 1), max_size=5))
        kept.append((COUNT, [at for at in range(COUNT) if at not in gone]))
    return parts, spans, Numbering(kept)


@given(pools(), st.integers(1, 40))
def test_the_best_skills_equal_a_full_sum(pool: tuple[list[Index], list[list[Span]], Numbering], limit: int) -> None:
    parts, spans, numbering = pool
    likely = Likely(parts, spans, limit)
    result = highest(likely.scores(numbering.numbers, numbering.gone), limit)
    scores = plain(parts, spans, numbering)
    best = nlargest(limit, scores.values())
    assert sorted((scores[at] for at in result), reverse=True) == pytest.approx(best, abs=1e-4)
    assert len(set(result)) == len(best)


def test_hopeless_indexes_are_skipped() -> None:
    high, where = indexed([{at: 9.0 + at for at in range(5)}])
    low, there = indexed([dict.fromkeys(range(COUNT, COUNT + 5), 1.0)])  # no such skills: adding them up would fail
    numbering = Numbering([(COUNT, range(COUNT)), (COUNT, range(COUNT))])
    spans: list[list[Span]] = [[(*there[0], 1.0, 1.0)], [(*where[0], 1.0, 1.0)]]
    likely = Likely([low, high], spans, 3)
    assert likely.scores(numbering.numbers, numbering.gone) == {COUNT + 2: 11.0, COUNT + 3: 12.0, COUNT + 4: 13.0}


def test_ties_are_broken_by_number_across_indexes() -> None:
    low, where = indexed([dict.fromkeys(range(10), 0.1)])
    high, there = indexed([dict.fromkeys(range(10), 0.3)])  # times a third, which is not the same to the last digit
    numbering = Numbering([(COUNT, range(COUNT)), (COUNT, range(COUNT))])
    spans: list[list[Span]] = [[(*there[0], 1 / 3, 0.7)], [(*where[0], 1.0, 0.7)]]
    result = highest(Likely([high, low], spans, 12).scores(numbering.numbers, numbering.gone), 12)
    assert result == [*range(10), COUNT, COUNT + 1]
