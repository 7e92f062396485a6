"""The result of a run, as the library returns it and `--json` prints it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from goalwright_executor.results.kept_files import Artifact
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import RunStatus, TaskStatus
    from goalwright_planner.model import Usage
    from goalwright_planner.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a goal.

    `waiting` are the unanswered requests, `artifacts` the files that tools made, `skills_used` the skills of finished
    tasks and those that their models loaded, `recipe` the recipe of the plan. `data` is the answer in the requested
    form, as JSON values or as an instance of the program's own class; None if no form was requested, or if the answer
    does not have it.
    """

    run_id: str
    status: RunStatus
    goal: str
    answer: str | None
    error: str | None
    question: str | None
    skills: tuple[str, ...]
    tasks: tuple[TaskReport, ...]
    usage: Usage
    cost_usd: float | None
    journal: str | None
    seconds: float = 0.0
    plan: Plan | None = field(default=None, repr=False)
    code: str | None = None
    waiting: tuple[ApprovalRequest, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    data: Any = None
    model: str | None = None
    skills_used: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    conversation: str | None = None
    recipe: str | None = None
    limit: str | None = None
    needed: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The result as `--json` prints it."""
        document = {
            "run_id": self.run_id,
            "status": self.status,
            "goal": self.goal,
            "answer": self.answer,
            "error": self.error,
            "question": self.question,
            "skills": list(self.skills),
            "skills_used": list(self.skills_used),
            "warnings": list(self.warnings),
            "tasks": [task.to_dict() for task in self.tasks],
            "usage": msgspec.structs.asdict(self.usage),
            "model": self.model,
            "recipe": self.recipe,
            "conversation": self.conversation,
            "cost_usd": self.cost_usd,
            "artifacts": [artifact.to_dict() for artifact in self.artifacts],
            "waiting": [request.to_dict() for request in self.waiting],
            "journal": self.journal,
        }
        if self.data is None:
            return document
        from pydantic_core import to_jsonable_python  # the data may be an instance of a program's class

        return document | {"data": to_jsonable_python(self.data)}


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The outcome of one task."""

    id: str
    action_type: str
    name: str | None
    status: TaskStatus = "pending"
    attempts: int = 0
    seconds: float = 0.0
    output: str | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The task as `--json` prints it."""
        return {key: getattr(self, key) for key in self.__slots__} | {"seconds": round(self.seconds, 3)}
