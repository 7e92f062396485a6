"""What happens to a run as a whole."""

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

# The code of a run that ended because its plan was not changed as a person asked.
PLAN_NOT_CHANGED = "PLAN_NOT_CHANGED"
NOT_CHANGED = "the plan was not changed: "
# The code of a run that a person stopped.
STOPPED_BY_USER = "STOPPED_BY_USER"


class EarlierOutput(msgspec.Struct, frozen=True):
    """The output of a task of an earlier run, or its beginning."""

    task: str
    title: str
    text: str


class EarlierRun(msgspec.Struct, frozen=True):
    """What a run takes over from the one that it follows up: the goal, the answer and results, or their beginnings."""

    run_id: str
    goal: str
    status: str
    answer: str
    results: tuple[EarlierOutput, ...] = ()


class EarlierTurn(msgspec.Struct, frozen=True):
    """What a turn of a conversation sees of an earlier one: its goal and its answer, or a summary of both.

    With `fits` the goal and the answer stand in the prompt. Without it the `summary` does, or one is made first.
    """

    number: int
    run_id: str
    goal: str
    status: str
    answer: str
    summary: str = ""
    fits: bool = True


class TurnResult(msgspec.Struct, frozen=True):
    """A task of an earlier turn that has a result, and how many characters that has."""

    turn: int
    run_id: str
    task: str
    title: str
    size: int


class ConversationTurn(msgspec.Struct, frozen=True):
    """The place of a run in a conversation, and what it sees of earlier turns, newest first.

    `results` are those that its tasks can refer to. So many earlier turns are `left_out`, because there is no room. So
    many of the run's files, the last ones, are `earlier_files`: given, written or made in earlier turns.
    """

    id: str
    number: int
    turns: tuple[EarlierTurn, ...] = ()
    results: tuple[TurnResult, ...] = ()
    left_out: int = 0
    earlier_files: int = 0

    @property
    def earlier_ids(self) -> frozenset[str]:
        """The tasks of earlier turns that a plan can refer to, as they are called there."""
        return frozenset(earlier_id(one.turn, one.task) for one in self.results)


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
    """A run began; `use` maps skill names to files that replace those skills.

    Everything that it was given is here, including a plan and reused outputs, so that it can be resumed from any point.
    A goal of a batch names the batch, its own id there, and how many goals the batch has. `schema` is the form that the
    answer must have, `after` what is taken over from the run that it follows up, `conversation` what it sees of
    earlier turns, `recipe` the one that its plan comes from.
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
    """A stopped run was resumed; `lost` are the seconds that it had worked when its process died, if it did."""

    run_id: str
    settings: Mapping[str, Any]
    lost: float = 0.0


class TurnSummarised(Event, frozen=True):
    """An earlier turn of the conversation has no room in prompts any more, and a model has summarised it."""

    turn: int
    text: str


class EarlierOutputRead(Event, frozen=True):
    """The result of a task of an earlier turn was read, because a task refers to it."""

    turn: int
    task: str
    text: str


class TurnTakenBack(Event, frozen=True):
    """A person took back a turn of a conversation after its end; later turns do not see it."""

    turn: int


class Warned(Event, frozen=True):
    """A warning for the user; the run continues."""

    message: str


class AnswerChecked(Event, frozen=True):
    """An answer was compared with the form asked for; `answer` is its hash, `faults` all that is wrong with it."""

    answer: str
    faults: tuple[str, ...] = ()


class RunFinished(Event, frozen=True):
    """The run ended; `code` names the error, if there was one. `data` is the answer in the form asked for, if any.

    If a limit stopped it, `limit` is the setting (max_cost, max_tokens or timeout), and `needed` the least that the next
    call takes of it.
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
    """A person tagged the run; `tags` are all that it has from now on. No part of the run itself."""

    tags: tuple[str, ...] = ()


class RunNoted(Event, frozen=True):
    """A person wrote a note about the run, in place of an earlier one. No part of the run itself."""

    note: str = ""


class AnswerJudged(Event, frozen=True):
    """A judge was asked about the run after its end, in an evaluation; no part of the run itself.

    `request` is the hash by which the reply is found if the same is asked again.
    """

    model: str
    messages: tuple[Message, ...]
    reply: Reply
    request: Hash = ""
