"""Describes an event in one line of text."""

from __future__ import annotations

from goalwright.interfaces.cli.request_text import short_id, title
from goalwright.traces.wording import change_text, checked_text, condition_text
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

# The purpose of a call, by its role.
_PURPOSES = {
    "decomposer": "planning",
    "replanner": "changing the plan",
    "synthesis": "writing the answer",
    "detector": "selecting skills",
    "checker": "checking a result",
    "condition": "checking a condition",
    "task": "a task",
}


def describe(event: Event) -> str | None:
    """Describe an event in one line; None for events that are not shown during a run."""
    match event:
        case SkillsSelected(detector) if detector == PLAN:
            names = ", ".join(selection.name for selection in event.selections)
            return f"skills of the plan: {names}" if names else None
        case SkillsSelected():
            chosen = "; ".join(f"{selection.name} ({selection.reason})" for selection in event.selections)
            text = f"skills selected: {chosen}" if chosen else f"none of {counted(event.available, 'skill')} fits"
            text += f" ({event.unindexed:,} not indexed yet)" if event.unindexed else ""
            return f"{event.task}: {text}" if event.task else text
        case ModelLoading():
            return f"loading {event.what}"
        case ReplanAsked():
            return f"asked to change the plan: {event.request}"
        case PlanRefused(change=int(number)):
            return f"plan change {number} refused (attempt {event.attempt}): {'; '.join(event.faults)}"
        case PlanRefused():
            prefix = f"{event.task}: " if event.task else ""
            return f"{prefix}plan refused (attempt {event.attempt}): {'; '.join(event.faults)}"
        case PlanMade():
            source = f" ({event.rule}; no model was asked)" if event.rule else ""
            return f"plan: {counted(len(event.plan.tasks), 'task')}{source}"
        case PlanChanged():
            return change_text(event)
        case ConditionChecked():
            reason = f" ({event.why})" if event.why else ""
            return f"{condition_text(event)}{reason}"
        case CallRetried():
            failure = f"model call failed (attempt {event.attempt}), trying again in {event.wait:.1f} s"
            return f"{caller(event.role, event.task)}: {failure}: {event.reason}"
        case TaskStarted():
            return f"{event.task}: started"
        case TaskReused():
            return f"{event.task}: reused from {event.source}"
        case ResultChecked():
            return f"{event.task}: {checked_text(event)}"
        case AnswerChecked(faults=faults) if faults:
            return f"answer: it does not have the requested form: {'; '.join(faults)}"
        case TaskFinished():
            reason = f": {event.error}" if event.error else ""
            duration = f" after {event.seconds:.1f} s" if event.seconds else ""  # 0 if it never started
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
    """Return the task id of a call, or its purpose if it belongs to no task."""
    return task or _PURPOSES.get(role, role)
