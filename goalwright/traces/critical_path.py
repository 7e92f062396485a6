"""The critical path of a run: the chain of steps that its end waited for, across resumes and plan changes.

The path is followed backwards from the end. The cause of a try is the last step to end among its dependencies, the
dependencies of its parent tasks, the task that it replaced, planning, and its own previous try. After a resume, the
cause is the try that the stop interrupted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from goalwright_planner.plan.task_id import parent_of, round_id, round_of, with_parents

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright.traces.span import Span

_TOLERANCE = 0.002  # seconds


class Segment(NamedTuple):
    """An interval of a run, with the step of the critical path that ran in it, or None."""

    step: str | None
    start: float
    end: float

    def to_dict(self) -> dict[str, str | float | None]:
        """Return the segment as JSON."""
        return {"step": self.step, "start": round(self.start, 3), "end": round(self.end, 3)}


def critical_segments(spans: Iterable[Span], resumes: Sequence[float], seconds: float) -> list[Segment]:
    """Return the segments of a run from its start to its end, without gaps."""
    tries = _Tries(spans, resumes)
    segments: list[Segment] = []
    until, current = seconds, tries.last(None, seconds)
    while current is not None:
        end = min(current.end, until)
        start = min(end, current.start)
        segments.append(Segment(None, end, until))
        cause = tries.cause(current)
        is_part = cause is not None and cause.start >= current.start - _TOLERANCE
        until = max(start, min(end, cause.end)) if cause is not None and is_part else start
        segments.append(Segment(current.step, until, end))
        current = cause
    segments.append(Segment(None, 0.0, until))
    return [segment for segment in reversed(segments) if segment.step is not None or segment.end > segment.start]


class _Tries:
    """The finished tries by step. Each is visited once: a try of zero length could otherwise be its own cause."""

    def __init__(self, spans: Iterable[Span], resumes: Sequence[float]) -> None:
        self._resumes = resumes
        self._needs: dict[str, list[str]] = {}
        self._tries: dict[str, list[Segment]] = {}
        self._parts: dict[str, list[str]] = {}
        self._visited: set[int] = set()
        for span in spans:
            self._needs.setdefault(span.id, []).extend(span.depends_on)
            if (number := round_of(span.id)) is not None:
                self._needs[span.id].append(round_id(parent_of(span.id) or "", number - 1))
            if span.replaced_by is not None:
                self._needs.setdefault(span.replaced_by, []).append(span.id)
            self._tries[span.id] = [
                Segment(span.id, item.start, item.end) for item in span.tries if item.end is not None
            ]
            if (parent := parent_of(span.id)) is not None:
                self._parts.setdefault(parent, []).append(span.id)

    def last(self, steps: Iterable[str] | None, before: float) -> Segment | None:
        """Return the last try to end before a time, of some steps or of all; of equal ones, the longest."""
        names = self._tries if steps is None else steps
        tries = (segment for name in names for segment in self._tries.get(name, ()))
        ended = [
            segment for segment in tries if segment.end <= before + _TOLERANCE and id(segment) not in self._visited
        ]
        return max(ended, key=lambda segment: (segment.end, -segment.start), default=None)

    def cause(self, current: Segment) -> Segment | None:
        """Return the try that this one waited for, and mark this one as visited."""
        self._visited.add(id(current))
        step = current.step or ""
        part = self.last(self._parts.get(step, ()), current.end)
        if part is not None and current.start - _TOLERANCE <= part.start:
            return part
        is_task = not step.startswith("(")
        needed = [name for own in with_parents(step) for name in self._needs.get(own, ())]
        cause = self.last([*needed, step, "(plan)", "(replan)"] if is_task else None, current.start)
        resumed = max((time for time in self._resumes if time <= current.start + _TOLERANCE), default=None)
        if resumed is not None and (cause is None or cause.end < resumed - _TOLERANCE):
            cause = self.last(None, current.start)
        return cause if cause is not None else self._planning(current)

    def _planning(self, current: Segment) -> Segment | None:
        """Return the planning during which a task started."""
        plans = (plan for plan in self._tries.get("(plan)", ()) if plan.start < current.start < plan.end)
        return next((plan for plan in plans if id(plan) not in self._visited), None)
