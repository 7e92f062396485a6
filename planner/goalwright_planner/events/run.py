"""Events of a run as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from goalwright_planner.events.event import Event, Hash
from goalwright_planner.events.tasks import TaskReused
from goalwright_planner.model import Message, Reply
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.references import earlier_id

RunStatus = Literal["done", "partial", "failed", "stopped", "waiting", "interrupted"]

# The error code of a run that ended because its plan was not changed as a person asked.
PLAN_NOT_CHANGED = "PLAN_NOT_CHANGED"
NOT_CHANGED = "the plan was not changed: "
# The error code of a run that a person stopped.
STOPPED_BY_USER = "STOPPED_BY_USER"


class EarlierOutput(msgspec.Struct, frozen=True):
    """The output of a task of an earlier run, or its beginning."""

    task: str
    title: str
    text: str


class EarlierRun(msgspec.Struct, frozen=True):
    """The goal, answer and results of the run that this run follows up, or their beginnings."""

    run_id: str
    goal: str
    status: str
    answer: str
    results: tuple[EarlierOutput, ...] = ()


class EarlierTurn(msgspec.Struct, frozen=True):
    """An earlier turn of a conversation as a later turn sees it: its goal and answer, or a summary of both.

    With `fits`, the prompt contains the goal and the answer. Otherwise it contains the `summary`, which may have to be
    made first.
    """

    number: int
    run_id: str
    goal: str
    status: str
    answer: str
    summary: str = ""
    fits: bool = True


class TurnResult(msgspec.Struct, frozen=True):
    """A task of an earlier turn that has a result, and the number of characters of the result."""

    turn: int
    run_id: str
    task: str
    title: str
    size: int


class ConversationTurn(msgspec.Struct, frozen=True):
    """The position of a run in a conversation, and the earlier turns that it sees, newest first.

    `results` are results that its tasks can refer to. `left_out` counts earlier turns for which there is no room.
    `earlier_files` counts the last of the run's files, which were given, written or made in earlier turns.
    """

    id: str
    number: int
    turns: tuple[EarlierTurn, ...] = ()
    results: tuple[TurnResult, ...] = ()
    left_out: int = 0
    earlier_files: int = 0

    @property
    def earlier_ids(self) -> frozenset[str]:
        """The ids of tasks of earlier turns that a plan can refer to."""
        return frozenset(earlier_id(result.turn, result.task) for result in self.results)


class RecipeUse(msgspec.Struct, frozen=True):
    """The recipe that a goal names, with the values of its parameters and the run that it was saved from.

    If it could not be `used`, the goal was planned; `warnings` say why.
    """

    name: str
    values: Mapping[str, str] = {}
    run_id: str = ""
    used: bool = True
    warnings: tuple[str, ...] = ()


class RunStarted(Event, frozen=True):
    """A run began; the event has all of its inputs, so that the run can be resumed from any point.

    `use` maps skill names to files that replace those skills. A goal of a batch names the batch, its own id there, and
    the number of goals in the batch. `schema` is the form of the answer, `after` the run that is followed up,
    `conversation` the earlier turns, and `recipe` the recipe that the plan comes from.
    """

    run_id: str
    goal: str
    workspace: str
    settings: Mapping[str, Any]
    date: str = ""
    asked_skills: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    parent: str | None = None
    versions: Mapping[str, str] = {}
    use: Mapping[str, str] = {}
    plan: Plan | None = None
    reused: tuple[TaskReused, ...] = ()
    batch: str | None = None
    batch_goal: str | None = None
    batch_size: int | None = None
    schema: Mapping[str, Any] | None = None
    after: EarlierRun | None = None
    conversation: ConversationTurn | None = None
    recipe: RecipeUse | None = None


class RunResumed(Event, frozen=True):
    """A stopped run was resumed; `lost` are the seconds of work before its process died, if it did."""

    run_id: str
    settings: Mapping[str, Any]
    lost: float = 0.0


class TurnSummarised(Event, frozen=True):
    """A model summarised an earlier turn of the conversation, which does not fit in prompts any more."""

    turn: int
    text: str


class EarlierOutputRead(Event, frozen=True):
    """The result of an earlier turn's task was read, because a task refers to it."""

    turn: int
    task: str
    text: str


class TurnTakenBack(Event, frozen=True):
    """A person took back a finished turn of a conversation; later turns do not see it."""

    turn: int


class Warned(Event, frozen=True):
    """A warning for the user; the run continues."""

    message: str


class AnswerChecked(Event, frozen=True):
    """An answer was validated against its schema; `answer` is its hash, `faults` are all its faults."""

    answer: str
    faults: tuple[str, ...] = ()


class RunFinished(Event, frozen=True):
    """The run ended; `code` names the error, if any; `data` is the answer in the form of the schema, if any.

    If a limit stopped it, `limit` is the setting (max_cost, max_tokens or timeout), and `needed` the least that the
    next call takes of it.
    """

    status: RunStatus
    answer: str | None = None
    error: str | None = None
    question: str | None = None
    seconds: float = 0.0
    code: str | None = None
    data: Any = None
    limit: str | None = None
    needed: float = 0.0


class RunTagged(Event, frozen=True):
    """A person tagged the run; `tags` replaces all its tags. Not part of the run itself."""

    tags: tuple[str, ...] = ()


class RunNoted(Event, frozen=True):
    """A person wrote a note about the run, which replaces the earlier one. Not part of the run itself."""

    note: str = ""


class AnswerJudged(Event, frozen=True):
    """A judge model was asked about the finished run, in an evaluation; not part of the run itself.

    `request` is the hash under which the reply is found if the same is asked again.
    """

    model: str
    messages: tuple[Message, ...]
    reply: Reply
    request: Hash = ""
