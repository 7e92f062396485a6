"""Updates a run's summary with each of its events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_planner.events import (
    CallBroken,
    CallFinished,
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    RunNoted,
    RunResumed,
    RunStarted,
    RunTagged,
    SkillsSelected,
    TaskFinished,
    TaskReused,
)
from goalwright_planner.plan.task_id import in_round, parent_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_executor.stores.row import RunSummary
    from goalwright_planner.model import Usage


# The events that change a summary.
CHANGING = frozenset(
    {
        RunStarted, RunResumed, SkillsSelected, PlanMade, PlanChanged, CallBroken, CallFinished, TaskFinished,
        TaskReused, RunFinished, RunTagged, RunNoted,
    }
)  # fmt: skip


def updated(summary: RunSummary, event: Event, at: str) -> RunSummary:
    """Return the summary after an event; `seconds` is the total over all resumes."""
    match event:
        case RunStarted():
            return replace(
                summary,
                goal=event.goal,
                started=at,
                parent=event.parent,
                batch=event.batch,
                batch_goal=event.batch_goal,
                conversation=event.conversation.id if event.conversation is not None else None,
                model=_model(event),
            )
        case RunResumed():
            seconds = (summary.seconds or 0.0) + event.lost or summary.seconds
            model = _model(event) or summary.model
            return replace(summary, status="running", code=None, model=model, seconds=seconds)
        case SkillsSelected(task=None):
            return replace(summary, skills=tuple(selection.name for selection in event.selections))
        case PlanMade():
            return replace(summary, tasks=len(event.plan.tasks) + summary.early_parts, early=None, early_parts=0)
        case PlanChanged():
            growth = _reported(task.id for task in event.added) - _reported(event.dropped)
            changed = replace(summary, tasks=summary.tasks + growth)
            return changed if summary.early is None else _early(changed, event)
        case CallBroken():
            return _spent(summary, event.usage, event.cost)
        case CallFinished(reply=reply):
            return _spent(summary, reply.usage, reply.cost)
        case TaskReused(source="cache"):
            return summary  # its `TaskFinished` follows
        case TaskFinished() | TaskReused() if in_round(event.task):
            return summary  # a repeated task counts once
        case TaskFinished(status="done") | TaskReused():  # a resumed run does not record them again
            early = None if summary.early is None else summary.early | {event.task}
            return replace(summary, done=summary.done + 1, early=early)
        case RunFinished():
            seconds = (summary.seconds or 0.0) + event.seconds
            return replace(summary, status=event.status, seconds=seconds, code=event.code)
        case RunTagged():
            return replace(summary, tags=event.tags)
        case RunNoted():
            return replace(summary, note=event.note)
        case _:
            return summary


def _model(event: RunStarted | RunResumed) -> str | None:
    model = event.settings.get("model")
    return model if isinstance(model, str) else None


def _spent(summary: RunSummary, usage: Usage, cost: float | None) -> RunSummary:
    """Add the tokens and the cost of a call."""
    total = None if summary.cost_usd is None or cost is None else summary.cost_usd + cost
    return replace(summary, cost_usd=total, tokens=summary.tokens + usage.tokens)


def _reported(ids: Iterable[str]) -> int:
    """The number of tasks that a result would list, which has no rounds."""
    return sum(not in_round(name) for name in ids)


def _early(summary: RunSummary, event: PlanChanged) -> RunSummary:
    """Update the tasks and items of a run that has no plan yet."""
    names = summary.early or frozenset()
    lost = names.intersection(event.dropped)
    parts = summary.early_parts + _parts(task.id for task in event.added) - _parts(event.dropped)
    return replace(summary, done=summary.done - len(lost), early=names - lost, early_parts=parts)


def _parts(ids: Iterable[str]) -> int:
    return sum(parent_of(name) is not None and not in_round(name) for name in ids)
