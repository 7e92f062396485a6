"""What happens in a run, as values: every step hands them to one `record` callable.

An event says what happened, not when or in which run: whoever keeps events adds that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from planner.model import Message, Reply, Role
    from planner.plan.plan import Plan
    from skills.selection.detector import Selection

TaskStatus = Literal["done", "failed", "skipped", "cancelled", "pending"]
RunStatus = Literal["done", "partial", "failed", "stopped", "clarification", "interrupted"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A goal was taken on; `use` are files that stand in the place of skills, by the skills' names.

    What it was given is all here, the plan and the outputs too, so that a run that ends at once can be gone on with.
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
    versions: Mapping[str, str] = field(default_factory=dict)
    use: Mapping[str, str] = field(default_factory=dict)
    plan: Plan | None = None
    reused: tuple[TaskReused, ...] = ()


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A run that had stopped was taken up again, where it stood."""

    run_id: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SkillPrint:
    """A skill's fingerprint: its description's and its file's hash; `body` is empty where it was not looked at."""

    name: str
    description: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueTaken:
    """The skills and tools as they were, and their listings as prompts have them."""

    skills: tuple[SkillPrint, ...]
    skill_listing: str
    tool_listing: str


@dataclass(frozen=True, slots=True)
class SkillsSelected:
    """The detector chose among the skills that were found."""

    detector: str
    selections: tuple[Selection, ...]
    available: int


@dataclass(frozen=True, slots=True)
class PromptMade:
    """A prompt was rendered from its template, with these variables."""

    role: Role
    task: str | None
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request went to a model. `request` is its hash, by which its reply is found again."""

    role: Role
    task: str | None
    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    request: str = ""


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A call failed in a way that may pass; it is made again after a pause."""

    role: Role
    task: str | None
    model: str
    attempt: int
    wait: float
    reason: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A model answered."""

    role: Role
    task: str | None
    model: str
    reply: Reply
    seconds: float
    request: str = ""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A model did not answer, and will not be asked again."""

    role: Role
    task: str | None
    model: str
    error: str
    seconds: float
    request: str = ""


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """A piece of an answer arrived while it is still being written."""

    role: Role
    task: str | None
    text: str


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """An answer of the decomposer is no valid plan; these are all its faults."""

    attempt: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The plan that will run."""

    plan: Plan
    attempts: int


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task's dependencies are done and it began. `inputs` is the hash of what it was given."""

    task: str
    inputs: str = ""


@dataclass(frozen=True, slots=True)
class TaskReused:
    """A task's output was taken from the run that this one descends from, or from a file."""

    task: str
    output: str
    source: str


@dataclass(frozen=True, slots=True)
class SkillLoaded:
    """A skill's body was read for a task."""

    task: str | None
    name: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool answered. `call` is the hash of what it was asked, by which the answer is found again."""

    task: str | None
    name: str
    envelope: Mapping[str, Any]
    call: str = ""


@dataclass(frozen=True, slots=True)
class ToolLogged:
    """What a tool's process wrote beside its answer: for the trace and the tool's author."""

    name: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TaskFinished:
    """A task ended, one way or another."""

    task: str
    status: TaskStatus
    seconds: float = 0.0
    output: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know that stops nothing."""

    message: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run ended; `code` says in a word what went wrong."""

    status: RunStatus
    answer: str | None = None
    error: str | None = None
    question: str | None = None
    seconds: float = 0.0
    code: str | None = None


Event = (
    RunStarted
    | RunResumed
    | CatalogueTaken
    | SkillsSelected
    | PromptMade
    | CallStarted
    | CallRetried
    | CallFinished
    | CallFailed
    | TextStreamed
    | PlanRefused
    | PlanMade
    | TaskStarted
    | TaskReused
    | SkillLoaded
    | ToolCalled
    | ToolLogged
    | TaskFinished
    | Warned
    | RunFinished
)
Record = Callable[[Event], None]
