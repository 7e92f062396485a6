"""Where the time of a run went: the chain of steps that its end waited for, over resumes and changes of its plan.

The walk goes backwards from the end. A try waited for what ended last of all that it needs: its dependencies and those
of the tasks that it is a part of, the task whose place it took, planning, and the time before that it ran itself. If
the run was resumed since, it waited for what the stop broke off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from goalwright_planner.plan.task_id import parent_of, round_id, round_of, with_parents

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright.traces.span import Span

# Times are recorded in microseconds and shown in milliseconds.
_NEAR = 0.002


class Segment(NamedTuple):
    """A part of a run's time, and the step that it went to; None if nothing on the way to the end ran then."""

    step: str | None
    start: float
    end: float

    def to_dict(self) -> dict[str, str | float | None]:
        """The segment as JSON."""
        return {"step": self.step, "start": round(self.start, 3), "end": round(self.end, 3)}


def critical_segments(spans: Iterable[Span], resumes: Sequence[float], seconds: float) -> list[Segment]:
    """The time of a run from its start to its end, without gaps."""
    tries = _Tries(spans, resumes)
    found: list[Segment] = []
    until, now = seconds, tries.last(None, seconds)
    while now is not None:
        end = min(now.end, until)
        start = min(end, now.start)
        found.append(Segment(None, end, until))
        cause = tries.cause(now)
        inside = cause is not None and cause.start >= now.start - _NEAR  # a part of it, which it waited for
        until = max(start, min(end, cause.end)) if cause is not None and inside else start
        found.append(Segment(now.step, until, end))
        now = cause
    found.append(Segment(None, 0.0, until))
    return [one for one in reversed(found) if one.step is not None or one.end > one.start]


class _Tries:
    """Every time that a step ran and ended, by step; each is passed once, on the way from the end.

    A try of no length ends where it begins, and would be its own cause, or that of another which waited for it.
    """

    def __init__(self, spans: Iterable[Span], resumes: Sequence[float]) -> None:
        self._resumes = resumes
        self._needs: dict[str, list[str]] = {}
        self._of: dict[str, list[Segment]] = {}
        self._parts: dict[str, list[str]] = {}
        self._passed: set[int] = set()
        for span in spans:
            self._needs.setdefault(span.id, []).extend(span.depends_on)
            if (number := round_of(span.id)) is not None:
                self._needs[span.id].append(round_id(parent_of(span.id) or "", number - 1))
            if span.replaced_by is not None:
                self._needs.setdefault(span.replaced_by, []).append(span.id)
            self._of[span.id] = [Segment(span.id, one.start, one.end) for one in span.tries if one.end is not None]
            if (parent := parent_of(span.id)) is not None:
                self._parts.setdefault(parent, []).append(span.id)

    def last(self, steps: Iterable[str] | None, before: float) -> Segment | None:
        """What ended last before a time, of some steps or of all; of several, what took longest."""
        names = self._of if steps is None else steps
        tries = (one for name in names for one in self._of.get(name, ()))
        ended = [one for one in tries if one.end <= before + _NEAR and id(one) not in self._passed]
        return max(ended, key=lambda one: (one.end, -one.start), default=None)

    def cause(self, one: Segment) -> Segment | None:
        """What a try waited for; it is passed now."""
        self._passed.add(id(one))
        step = one.step or ""
        part = self.last(self._parts.get(step, ()), one.end)
        if part is not None and one.start - _NEAR <= part.start:
            return part
        is_task = not step.startswith("(")
        needed = [name for own in with_parents(step) for name in self._needs.get(own, ())]
        found = self.last([*needed, step, "(plan)", "(replan)"] if is_task else None, one.start)
        resumed = max((at for at in self._resumes if at <= one.start + _NEAR), default=None)
        if resumed is not None and (found is None or found.end < resumed - _NEAR):
            found = self.last(None, one.start)
        return found if found is not None else self._planning(one)

    def _planning(self, one: Segment) -> Segment | None:
        """The planning during which a task began."""
        plans = (plan for plan in self._of.get("(plan)", ()) if plan.start < one.start < plan.end)
        return next((plan for plan in plans if id(plan) not in self._passed), None)
