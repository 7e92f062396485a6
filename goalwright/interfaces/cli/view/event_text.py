"""An event as one line of text."""

from __future__ import annotations

from goalwright.interfaces.cli.request_text import short_id, title
from goalwright.traces.change_text import change_text, checked_text, condition_text
from goalwright.workspace.planned_selection import PLAN
from goalwright_planner.events import (
    AnswerChecked,
    ApprovalAsked,
    ApprovalGiven,
    CallRetried,
    ConditionChecked,
    Event,
    ModelLoading,
    PlanChanged,
    PlanMade,
    PlanRefused,
    ReplanAsked,
    ResultChecked,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    Warned,
)
from goalwright_skills.text.formatting import counted

# What a call that belongs to no task is for.
_CALLS_FOR = {
    "decomposer": "planning",
    "replanner": "changing the plan",
    "synthesis": "writing the answer",
    "detector": "selecting skills",
    "checker": "checking a result",
    "condition": "checking a condition",
    "task": "a task",
}


def describe(event: Event) -> str | None:
    """Describe an event in one line; None for events that are not shown while a run is running."""
    match event:
        case SkillsSelected(detector) if detector == PLAN:
            names = ", ".join(selection.name for selection in event.selections)
            return f"skills of the plan: {names}" if names else None
        case SkillsSelected():
            chosen = "; ".join(f"{selection.name} ({selection.reason})" for selection in event.selections)
            said = f"skills selected: {chosen}" if chosen else f"none of {counted(event.available, 'skill')} fits"
            said += f" ({event.unindexed:,} not indexed yet)" if event.unindexed else ""
            return f"{event.task}: {said}" if event.task else said
        case ModelLoading():
            return f"loading {event.what}"
        case ReplanAsked():
            return f"asked to change the plan: {event.request}"
        case PlanRefused(change=int(number)):
            return f"plan change {number} refused (attempt {event.attempt}): {'; '.join(event.faults)}"
        case PlanRefused():
            whose = f"{event.task}: " if event.task else ""
            return f"{whose}plan refused (attempt {event.attempt}): {'; '.join(event.faults)}"
        case PlanMade():
            why = f" ({event.rule}; no model was asked)" if event.rule else ""
            return f"plan: {counted(len(event.plan.tasks), 'task')}{why}"
        case PlanChanged():
            return change_text(event)
        case ConditionChecked():
            why = f" ({event.why})" if event.why else ""
            return f"{condition_text(event)}{why}"
        case CallRetried():
            failed = f"model call failed (attempt {event.attempt}), trying again in {event.wait:.1f} s"
            return f"{caller(event.role, event.task)}: {failed}: {event.reason}"
        case TaskStarted():
            return f"{event.task}: started"
        case TaskReused():
            return f"{event.task}: reused from {event.source}"
        case ResultChecked():
            return f"{event.task}: {checked_text(event)}"
        case AnswerChecked(faults=faults) if faults:
            return f"answer: it does not have the form asked for: {'; '.join(faults)}"
        case TaskFinished():
            reason = f": {event.error}" if event.error else ""
            duration = f" after {event.seconds:.1f} s" if event.seconds else ""  # 0: it never started
            return f"{event.task}: {event.status}{duration}{reason}"
        case ApprovalAsked():
            return f"waiting for a person: {title(event)} ({short_id(event)})"
        case ApprovalGiven(withdrawn=True):
            return f"{event.task}: no longer waits for an answer: {event.note}"
        case ApprovalGiven():
            reason = f": {event.note or event.text}" if event.note or event.text else ""
            return f"{event.task or 'planning'}: {event.decision} by {event.by}{reason}"
        case Warned():
            return f"warning: {event.message}"
        case _:
            return None


def caller(role: str, task: str | None) -> str:
    """Whose call it is, in words: the task's id, or what the call is for."""
    return task or _CALLS_FOR.get(role, role)
