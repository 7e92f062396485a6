"""The timeline of a recorded run: its steps, their dependencies, the critical path, tokens and cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright.traces.critical_path import Segment, critical_segments
from goalwright.traces.steps import Question, Steps
from goalwright_planner.events import PlanChanged, RecipeUse, SkillShortened, decode
from goalwright_planner.plan.task_id import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright.traces.span import Span
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import Row
    from goalwright_skills.selection.detector import Selection


# The events of a timeline, without prompts, which are the largest part of a record.
TYPES = (
    "run_started", "run_resumed", "skills_selected", "plan_refused", "plan_made", "plan_changed", "task_started",
    "condition_checked", "task_reused", "task_finished", "call_retried", "call_broken", "call_failed", "call_finished",
    "tool_called", "result_checked", "approval_asked", "approval_given", "skill_shortened", "warned", "run_finished",
)  # fmt: skip


@dataclass(slots=True)
class Timeline:
    """The steps of a run: planning, tasks and synthesis. `seconds` excludes the pauses before resumes.

    `segments` divides this time among steps. `dropped` are started tasks that a plan change removed, `streamed` counts
    the tasks that started before the plan was complete.
    """

    result: Result
    alive: bool
    seconds: float
    started: str
    parent: str | None
    after: str | None
    recipe: RecipeUse | None
    selections: tuple[Selection, ...]
    spans: dict[str, Span]
    faults: list[str]
    resumes: list[float]
    segments: list[Segment]
    changes: list[tuple[float, PlanChanged]]
    dropped: list[Span]
    streamed: int
    shortened: list[SkillShortened]
    questions: list[Question]

    @property
    def critical(self) -> list[str]:
        """The chain of steps that the end of the run waited for."""
        return list(dict.fromkeys(segment.step for segment in self.segments if segment.step is not None))

    @property
    def resumed(self) -> int:
        """The number of resumes."""
        return len(self.resumes)

    @property
    def status(self) -> str:
        """The status of the run; `running` if a process is running it."""
        return "running" if self.alive else self.result.status

    def to_dict(self, *, outputs: bool = True) -> dict[str, Any]:
        """Return the timeline as `trace show --json` prints it, optionally without the outputs of tasks."""
        document = self.result.to_dict()
        if not outputs:
            document["tasks"] = [{key: task[key] for key in task if key != "output"} for task in document["tasks"]]
        return document | {
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "started": self.started,
            "parent": self.parent,
            "after": self.after,
            "recipe_use": msgspec.to_builtins(self.recipe) if self.recipe is not None else None,
            "resumed": self.resumed,
            "resumes": [round(at, 3) for at in self.resumes],
            "selected": [asdict(selection) for selection in self.selections],
            "plan_faults": self.faults,
            "plan_changes": [_change(at, event) for at, event in self.changes],
            "plan_streamed": self.streamed,
            "questions": [asdict(question) for question in self.questions],
            "skills_shortened": [_shortened(event) for event in self.shortened],
            "spans": [span.to_dict() for span in self.spans.values()],
            "dropped": [span.to_dict() for span in self.dropped],
            "critical_path": self.critical,
            "critical_segments": [segment.to_dict() for segment in self.segments],
        }


def timeline(rows: Iterable[Row], *, alive: bool = False) -> Timeline:
    """Build the timeline of a run from its rows; `alive` if a process is running it."""
    steps, clock = Steps(), Clock()
    for row in rows:
        at = clock.advance(datetime.fromisoformat(row.at), resumed=row.type == "run_resumed")
        event = decode(row.type, row.body)
        if event is not None:
            steps.note(event, at, row.at)
    steps.end(clock.seconds, alive=alive)
    seconds = clock.advance(datetime.now(UTC)) if alive else clock.seconds
    return Timeline(
        result=steps.ledger.result(),
        alive=alive,
        seconds=seconds,
        started=steps.started,
        parent=steps.parent,
        after=steps.after,
        recipe=steps.recipe,
        selections=steps.selections,
        spans={step: steps.spans[step] for step in in_order(steps.spans)},
        faults=steps.faults,
        resumes=steps.resumes,
        segments=critical_segments([*steps.spans.values(), *steps.dropped], steps.resumes, seconds),
        changes=steps.changes,
        dropped=steps.dropped,
        streamed=steps.streamed,
        shortened=steps.shortened,
        questions=list(steps.questions.values()),
    )


def _change(at: float, event: PlanChanged) -> dict[str, Any]:
    """Return a plan change as `trace show --json` prints it, without the definitions of added tasks."""
    return {
        "at": at,
        "cause": event.cause,
        "added": [task.id for task in event.added],
        "dropped": list(event.dropped),
        "rewired": dict(event.rewired),
        "note": event.note,
    }


def _shortened(event: SkillShortened) -> dict[str, Any]:
    """Return a shortened skill as `trace show --json` prints it."""
    return {
        "task": event.task,
        "name": event.name,
        "left_out": list(event.left_out),
        "characters": event.characters,
    }


@dataclass(slots=True)
class Clock:
    """The time that a run has worked, without the pauses before resumes.

    No time passes if the system clock was set back between two events. Sums are rounded to microseconds like recorded
    times, so that simultaneous events have equal times.
    """

    seconds: float = 0.0
    _last: datetime | None = None

    def advance(self, at: datetime, *, resumed: bool = False) -> float:
        """Advance to the time of an event and return the seconds worked until then."""
        if self._last is not None and not resumed:
            self.seconds = round(self.seconds + max(0.0, (at - self._last).total_seconds()), 6)
        self._last = at
        return self.seconds
