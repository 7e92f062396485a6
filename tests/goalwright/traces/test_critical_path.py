"""The chain of steps that a run's end waited for: it goes back in time only."""

from __future__ import annotations

from itertools import pairwise

from goalwright.traces.critical_path import critical_segments
from goalwright.traces.span import Span, Try


def step(name: str, start: float, end: float, *needs: str) -> Span:
    return Span(name, "task", depends_on=needs, tries=[Try(start, end, "done")])


def test_simultaneous_steps_give_segments_without_gap_or_overlap() -> None:
    steps = [
        step("a", 4.003, 4.004),
        step("b", 4.003, 4.003, "a"),
        step("c", 4.001, 4.002, "b"),
        step("d", 4.0, 5.0, "c"),
    ]
    found = critical_segments(steps, (), 5.0)
    assert [one.step for one in found if one.step] == ["a", "b", "c", "d"]
    assert all(one.start <= one.end for one in found)
    assert all(one.end == following.start for one, following in pairwise(found))
    assert (found[0].start, found[-1].end) == (0.0, 5.0)
