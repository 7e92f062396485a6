"""Everything that happens in a run, as values: every step passes them to one `record` callable.

An event says what happened, not when or in which run: the log adds that. Type names and fields are part of recorded
runs and exported traces: add new ones, but never rename or remove any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from planner.model import Message, Reply, Role
    from planner.plan.plan import Plan, Task
    from skills.selection.detector import Selection

TaskStatus = Literal["done", "failed", "skipped", "unneeded", "cancelled", "pending"]
RunStatus = Literal["done", "partial", "failed", "stopped", "waiting", "clarification", "interrupted"]
ChangeCause = Literal["for_each", "goal", "replan", "stream", "person"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began; `use` maps skill names to files that replace those skills.

    Everything that it was given is here, including a plan and reused outputs, so that it can be resumed from any point.
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
    """A stopped run was resumed."""

    run_id: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SkillPrint:
    """A skill's fingerprint: the hashes of its description and its file; `body` is empty if the file was not read."""

    name: str
    description: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueTaken:
    """The skills found, and the listings of skills and tools that prompts contain."""

    skills: tuple[SkillPrint, ...]
    skill_listing: str
    tool_listing: str


@dataclass(frozen=True, slots=True)
class SkillsSelected:
    """The detector selected skills, out of `available`."""

    detector: str
    selections: tuple[Selection, ...]
    available: int


@dataclass(frozen=True, slots=True)
class PromptMade:
    """A prompt was rendered from its template with these variables."""

    role: Role
    task: str | None
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request was sent to a model; `request` is the hash by which its reply is found."""

    role: Role
    task: str | None
    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    request: str = ""


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A call failed for a passing reason; it is retried after `wait` seconds."""

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
    """A call failed and is not retried."""

    role: Role
    task: str | None
    model: str
    error: str
    seconds: float
    request: str = ""


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """A piece of a streamed answer arrived."""

    role: Role
    task: str | None
    text: str


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """The decomposer's answer is not a valid plan; these are all its faults."""

    attempt: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The plan that will run; `repairs` says how it differs from what the model, or the file, had."""

    plan: Plan
    attempts: int
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The plan changed while it ran: the plan is the one that was made, with every change since.

    `of` is the task that the change belongs to; `rewired` maps ids to those that take their place in dependencies and
    references; without a `synthesis`, the plan keeps its own.
    """

    cause: ChangeCause
    of: str | None = None
    added: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()
    rewired: Mapping[str, str] = field(default_factory=dict)
    synthesis: str | None = None
    note: str = ""

    def applied(self, plan: Plan) -> Plan:
        """The plan after the change."""
        return plan.changed(self.added, self.dropped, self.rewired, self.synthesis)


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task started; `inputs` is the hash of what it was given."""

    task: str
    inputs: str = ""


@dataclass(frozen=True, slots=True)
class TaskReused:
    """A task's output was taken from the parent run or from a file."""

    task: str
    output: str
    source: str


@dataclass(frozen=True, slots=True)
class SkillLoaded:
    """A skill's body was loaded for a task."""

    task: str | None
    name: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool answered; `call` is the hash of the call, by which its answer is found."""

    task: str | None
    name: str
    envelope: Mapping[str, Any]
    call: str = ""


@dataclass(frozen=True, slots=True)
class ToolLogged:
    """What a tool's process wrote besides its answer, for the trace and the tool's author."""

    name: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TaskFinished:
    """A task ended."""

    task: str
    status: TaskStatus
    seconds: float = 0.0
    output: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning for the user; the run continues."""

    message: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run ended; `code` names the error, if there was one."""

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
    | PlanChanged
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
