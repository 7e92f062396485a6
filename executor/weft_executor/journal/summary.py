"""A run's summary, updated as its events come."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weft_planner.events import (
    CallBroken,
    CallFinished,
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    RunResumed,
    RunStarted,
    SkillsSelected,
    TaskFinished,
    TaskReused,
)
from weft_planner.plan.task_id import parent_of

if TYPE_CHECKING:
    from weft_executor.stores.row import RunSummary


# The events that change a summary; most do not.
CHANGING = frozenset(
    {
        RunStarted, RunResumed, SkillsSelected, PlanMade, PlanChanged, CallBroken, CallFinished, TaskFinished,
        TaskReused, RunFinished,
    }
)  # fmt: skip


def updated(summary: RunSummary, event: Event, at: str) -> RunSummary:
    """The summary after an event; `seconds` adds up over every time that the run was resumed."""
    match event:
        case RunStarted():
            batch, place = event.batch, event.conversation
            summary = replace(summary, goal=event.goal, started=at, parent=event.parent)
            conversation = place.id if place is not None else None
            return replace(summary, batch=batch, batch_goal=event.batch_goal, conversation=conversation)
        case RunResumed():
            return replace(summary, status="running")
        case SkillsSelected(task=None):
            return replace(summary, skills=tuple(one.name for one in event.selections))
        case PlanMade():
            return replace(summary, tasks=len(event.plan.tasks) + summary.early_parts, early=None, early_parts=0)
        case PlanChanged():
            changed = replace(summary, tasks=summary.tasks + len(event.added) - len(event.dropped))
            return changed if summary.early is None else _early(changed, event)
        case CallBroken():
            before = summary.cost_usd
            return replace(summary, cost_usd=None if before is None else before + (event.cost or 0.0))
        case CallFinished(reply=reply):
            before = summary.cost_usd
            return replace(summary, cost_usd=None if before is None or reply.cost is None else before + reply.cost)
        case TaskReused(source="cache"):
            return summary  # its end follows
        case TaskFinished(status="done") | TaskReused():  # each task once: a resumed run does not record them again
            early = None if summary.early is None else summary.early | {event.task}
            return replace(summary, done=summary.done + 1, early=early)
        case RunFinished():
            return replace(summary, status=event.status, seconds=(summary.seconds or 0.0) + event.seconds)
        case _:
            return summary


def _early(summary: RunSummary, event: PlanChanged) -> RunSummary:
    """The summary with items that grew before there is a plan, and without tasks that will not be in it."""
    names = summary.early or frozenset()
    lost = names.intersection(event.dropped)
    done = summary.done - len(lost)
    grown = sum(parent_of(task.id) is not None for task in event.added)
    parts = summary.early_parts + grown - sum(parent_of(name) is not None for name in event.dropped)
    return replace(summary, done=done, early=names - lost, early_parts=parts)
