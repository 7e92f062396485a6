"""describe and what belongs to it."""

from __future__ import annotations

from planner.events import (
    CallRetried,
    Event,
    PlanMade,
    PlanRefused,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    Warned,
)
from skills.text.plural import counted


def describe(event: Event) -> str | None:
    """An event in a line for people; None for those that are of no interest while a run goes on."""
    match event:
        case SkillsSelected():
            chosen = "; ".join(f"{one.name} ({one.reason})" for one in event.selections)
            return f"skills selected: {chosen}" if chosen else f"none of {counted(event.available, 'skill')} fits"
        case PlanRefused():
            return f"plan refused (attempt {event.attempt}): {'; '.join(event.faults)}"
        case PlanMade():
            return f"plan: {counted(len(event.plan.tasks), 'task')}"
        case CallRetried():
            whose = event.task or event.role
            return f"{whose}: attempt {event.attempt} failed, again in {event.wait:.1f} s: {event.reason}"
        case TaskStarted():
            return f"{event.task}: started"
        case TaskReused():
            return f"{event.task}: reused, from {event.source}"
        case TaskFinished():
            why = f": {event.error}" if event.error else ""
            took = f" after {event.seconds:.1f} s" if event.seconds else ""  # else it never began
            return f"{event.task}: {event.status}{took}{why}"
        case Warned():
            return f"warning: {event.message}"
        case _:
            return None
