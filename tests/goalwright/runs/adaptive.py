"""Runs of plans that adapt, with a scripted model and a real journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.errors import RequestRefused
from goalwright_planner.model import Reply, Request
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan
from tests.fakes import Recorder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from goalwright_executor.history.result import Result

Answers = dict[str, str | Exception]


def llm(task_id: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task_id, "action_type": "llm", "instruction": f"Do {task_id}", "depends_on": list(depends_on), **more}


def planned(*tasks: Mapping[str, Any], **more: Any) -> Plan:
    """A plan that has no fault."""
    reading = read_plan({"tasks": list(tasks), **more}, Known())
    assert reading.faults == ()
    return Plan.from_dict(reading.document)


def told(request: Request) -> str:
    """What a task was told to do."""
    return request.messages[-1].content.rpartition("<task>\n")[2].partition("\n</task>")[0]


def answering(answers: Answers) -> Callable[[Request], Reply | Exception]:
    """Tasks and conditions as said, others with what they were told; `why not` refuses."""

    def answer(request: Request) -> Reply | Exception:
        if request.role == "synthesis":
            return Reply("the answer", cost=0.01)
        key = f"when {request.task}" if request.role == "condition" else request.task or ""
        said = answers.get(key, f"{told(request)} done")
        return said if isinstance(said, Exception) else Reply(said, cost=0.01)

    return answer


REFUSED = RequestRefused("not now")


class Adaptive:
    """A workspace in which plans are run and resumed; `asked` are the tasks that the model was asked for last."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.model = ScriptedModel(answering({}))
        self.record = Recorder()

    async def run(self, plan: Plan, answers: Answers | None = None, **settings: Any) -> Result:
        """Run a plan."""
        async with self.goalwright(answers, settings) as goalwright:
            return await goalwright.run(Goal("do it", plan=plan), record=self.record)

    async def resume(self, answers: Answers | None = None, **settings: Any) -> Result:
        """Resume the last run."""
        async with self.goalwright(answers, settings) as goalwright:
            return await goalwright.resume("last", record=self.record)

    async def rerun(
        self, begin: str, answers: Answers | None = None, inputs: Mapping[str, str] | None = None
    ) -> Result:
        """Rerun the last run from a task, or with the outputs of some tasks."""
        async with self.goalwright(answers, {}) as goalwright:
            return await goalwright.rerun("last", goalwright.plan_rerun("last", [begin] if begin else [], inputs or {}))

    @property
    def asked(self) -> list[str]:
        """The tasks and roles that the model was asked for, in alphabetical order."""
        return sorted(
            f"when {one.task}" if one.role == "condition" else one.task or one.role for one in self.model.asked
        )

    def goalwright(self, answers: Answers | None, settings: dict[str, Any]) -> Goalwright:
        """The runtime with a model that answers so."""
        self.model, self.record = ScriptedModel(answering(answers or {})), Recorder()
        return Goalwright(
            self.workspace,
            Settings(model="scripted", **{"max_replans": 0, "allow_unknown_cost": True, **settings}),
            open_model=lambda _: self.model,
        )


def statuses(result: Result) -> dict[str, str]:
    """The status of each task."""
    return {task.id: task.status for task in result.tasks}


def outputs(result: Result) -> dict[str, str | None]:
    """The output of each task."""
    return {task.id: task.output for task in result.tasks}


def holds(value: bool, why: str = "so it is") -> str:
    """What a model says about a condition."""
    return json.dumps({"holds": value, "why": why})
