"""A run's summary, updated as its events come."""

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


# The events that change a summary; most do not.
CHANGING = frozenset(
    {
        RunStarted, RunResumed, SkillsSelected, PlanMade, PlanChanged, CallBroken, CallFinished, TaskFinished,
        TaskReused, RunFinished, RunTagged, RunNoted,
    }
)  # fmt: skip


def updated(summary: RunSummary, event: Event, at: str) -> RunSummary:
    """The summary after an event; `seconds` adds up over every time that the run was resumed."""
    match event:
        case RunStarted():
            batch, place = event.batch, event.conversation
            summary = replace(summary, goal=event.goal, started=at, parent=event.parent)
            conversation = place.id if place is not None else None
            begun = replace(summary, batch=batch, batch_goal=event.batch_goal, conversation=conversation)
            return replace(begun, model=_model(event))
        case RunResumed():
            seconds = (summary.seconds or 0.0) + event.lost or summary.seconds
            model = _model(event) or summary.model
            return replace(summary, status="running", code=None, model=model, seconds=seconds)
        case SkillsSelected(task=None):
            return replace(summary, skills=tuple(one.name for one in event.selections))
        case PlanMade():
            return replace(summary, tasks=len(event.plan.tasks) + summary.early_parts, early=None, early_parts=0)
        case PlanChanged():
            more = _counted(task.id for task in event.added) - _counted(event.dropped)
            changed = replace(summary, tasks=summary.tasks + more)
            return changed if summary.early is None else _early(changed, event)
        case CallBroken():
            return _spent(summary, event.usage, event.cost)
        case CallFinished(reply=reply):
            return _spent(summary, reply.usage, reply.cost)
        case TaskReused(source="cache"):
            return summary  # its end follows
        case TaskFinished() | TaskReused() if in_round(event.task):
            return summary  # the task that is repeated counts once
        case TaskFinished(status="done") | TaskReused():  # each task once: a resumed run does not record them again
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
    named = event.settings.get("model")
    return named if isinstance(named, str) else None


def _spent(summary: RunSummary, usage: Usage, cost: float | None) -> RunSummary:
    """The summary with the tokens and the cost of a call."""
    known = None if summary.cost_usd is None or cost is None else summary.cost_usd + cost
    return replace(summary, cost_usd=known, tokens=_sum(summary.tokens, usage.tokens))


def _sum(before: int | None, more: int) -> int | None:
    """Tokens with more of them; unknown if an earlier version began to count."""
    return None if before is None else before + more


def _counted(ids: Iterable[str]) -> int:
    """How many tasks a result would list: rounds count as the task that is repeated."""
    return sum(not in_round(name) for name in ids)


def _early(summary: RunSummary, event: PlanChanged) -> RunSummary:
    """The summary with items that grew before there is a plan, and without tasks that will not be in it."""
    names = summary.early or frozenset()
    lost = names.intersection(event.dropped)
    done = summary.done - len(lost)
    added, dropped = (task.id for task in event.added), event.dropped
    grown, gone = (sum(parent_of(name) is not None and not in_round(name) for name in ids) for ids in (added, dropped))
    parts = summary.early_parts + grown - gone
    return replace(summary, done=done, early=names - lost, early_parts=parts)
