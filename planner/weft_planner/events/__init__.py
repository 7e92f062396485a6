"""Everything that happens in a run, as values: every step passes them to one `record` callable.

An event says what happened, not when or in which run: the log adds that. Type names and fields are part of recorded
runs and exported traces: add new ones, but never rename or remove any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from weft_planner.events.approvals import ApprovalAsked, ApprovalGiven, ToolStarted
from weft_planner.events.calls import (
    CallFailed,
    CallFinished,
    CallRetried,
    CallStarted,
    ModelLoaded,
    ModelLoading,
    PromptMade,
    TextStreamed,
)
from weft_planner.events.plans import ChangeCause, PlanChanged, PlanMade, PlanRefused, ReplanAsked
from weft_planner.events.run import (
    AnswerChecked,
    EarlierOutput,
    EarlierRun,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStatus,
    Warned,
)
from weft_planner.events.selection import CatalogueTaken, SkillPrint, SkillsSelected
from weft_planner.events.tasks import (
    ConditionChecked,
    FileKept,
    FilePart,
    FileRead,
    ResultChecked,
    SkillLoaded,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TaskStatus,
    ToolCalled,
    ToolLogged,
)

__all__ = [
    "AnswerChecked",
    "ApprovalAsked",
    "ApprovalGiven",
    "CallFailed",
    "CallFinished",
    "CallRetried",
    "CallStarted",
    "CatalogueTaken",
    "ChangeCause",
    "ConditionChecked",
    "EarlierOutput",
    "EarlierRun",
    "Event",
    "FileKept",
    "FilePart",
    "FileRead",
    "ModelLoaded",
    "ModelLoading",
    "PlanChanged",
    "PlanMade",
    "PlanRefused",
    "PromptMade",
    "Record",
    "Recorded",
    "ReplanAsked",
    "ResultChecked",
    "RunFinished",
    "RunResumed",
    "RunStarted",
    "RunStatus",
    "SkillLoaded",
    "SkillPrint",
    "SkillsSelected",
    "TaskFinished",
    "TaskReused",
    "TaskStarted",
    "TaskStatus",
    "TextStreamed",
    "ToolCalled",
    "ToolLogged",
    "ToolStarted",
    "Warned",
]

Event = (
    RunStarted
    | RunResumed
    | CatalogueTaken
    | SkillsSelected
    | PromptMade
    | ModelLoading
    | ModelLoaded
    | CallStarted
    | CallRetried
    | CallFinished
    | CallFailed
    | TextStreamed
    | PlanRefused
    | PlanMade
    | PlanChanged
    | ReplanAsked
    | ConditionChecked
    | TaskStarted
    | TaskReused
    | SkillLoaded
    | ResultChecked
    | ToolStarted
    | FileRead
    | ToolCalled
    | FileKept
    | ToolLogged
    | ApprovalAsked
    | ApprovalGiven
    | TaskFinished
    | Warned
    | AnswerChecked
    | RunFinished
)
Record = Callable[[Event], object]

AnyEvent = TypeVar("AnyEvent", bound=Event)


class Recorded(Protocol):
    """Takes an event, and returns it as it is on record.

    A new event comes back as it is. In a replay, what a step decided comes back as it was decided then.
    """

    def __call__(self, event: AnyEvent, /) -> AnyEvent:
        """Record an event."""
