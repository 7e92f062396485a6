"""Runs whose plan is changed: a task fails, and a scripted planner says what to do instead."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.errors import RequestRefused
from goalwright_planner.model import Reply, ToolCall
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import UNSURE_GOAL, goalwright, rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright.runs.stop import Stop
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import Row
    from goalwright_planner.events import Record
    from goalwright_planner.model import Request

__all__ = ["UNSURE_GOAL", "Planner", "add", "change", "changed", "llm", "plan", "run", "statuses"]


def llm(task: str, *before: str, **rest: Any) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task, "action_type": "llm", "instruction": f"Do {task}", "depends_on": list(before), **rest}


def plan(*tasks: dict[str, Any], **rest: Any) -> str:
    """A plan as a model writes it."""
    return json.dumps({"tasks": tasks, **rest})


def change(
    *added: dict[str, Any], drop: tuple[str, ...] = (), rewire: Mapping[str, str] | None = None, **rest: Any
) -> str:
    """A change as a model writes it."""
    empty = {"synthesis": None, "give_up": None}
    return json.dumps({"add": added, "drop": drop, "rewire": rewire or {}, **empty, **rest})


def add(task: str, *before: str, instead_of: str) -> str:
    """A change that puts a task in the place of one that failed."""
    return change(llm(task, *before), rewire={instead_of: task})


# survey is done, fetch fails, and both notes and brief wait for it.
PLAN = plan(llm("survey"), llm("fetch"), llm("notes", "fetch"), llm("brief", "survey", "notes"), synthesis="short")


@dataclass
class Planner:
    """Gives a plan, changes one after the other, and tasks of which some fail or call the plan wrong."""

    plan: str = PLAN
    changes: list[str | Exception] = field(default_factory=list)
    fails: Mapping[str, str] = field(default_factory=lambda: {"fetch": "the page is gone"})
    wrong: Mapping[str, str] = field(default_factory=dict)
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answer)

    def answer(self, request: Request) -> Reply | Exception:
        """What the model says."""
        if request.role == "decomposer":
            return Reply(self.plan, cost=0.01)
        if request.role == "replanner":
            said = self.changes.pop(0) if len(self.changes) > 1 else self.changes[0]
            return said if isinstance(said, Exception) else Reply(said, cost=0.01)
        if request.role == "synthesis":
            return Reply("the answer", cost=0.01)
        task = request.task or ""
        if task in self.wrong and request.messages[-1].role != "tool":
            call = ToolCall("c1", "PlanIsWrong", json.dumps({"reason": self.wrong[task]}))
            return Reply("", (call,), cost=0.01, finish="tool_calls")
        return RequestRefused(self.fails[task]) if task in self.fails else Reply(f"{task} is done", cost=0.01)

    @property
    def asked(self) -> list[Request]:
        """The requests for a change."""
        return [request for request in self.model.asked if request.role == "replanner"]

    @property
    def worked(self) -> list[str]:
        """The tasks that a model was asked for, in order."""
        return [request.task for request in self.model.asked if request.role == "task" and request.task]


async def run(
    workspace: Path, planner: Planner, *, record: Record | None = None, stop: Stop | None = None, **settings: Any
) -> Result:
    """Run the goal with that planner."""
    async with goalwright(workspace, planner.model, **settings) as runtime:
        return await runtime.run(UNSURE_GOAL, record=record, stop=stop)


async def resumed(workspace: Path, planner: Planner, **settings: Any) -> Result:
    """Resume the last run with that planner."""
    async with goalwright(workspace, planner.model, **settings) as runtime:
        return await runtime.resume("last")


def statuses(result: Result) -> dict[str, str]:
    """The status of each task."""
    return {task.id: task.status for task in result.tasks}


def changed(workspace: Path) -> list[dict[str, Any]]:
    """The recorded changes of the last run's plan."""
    found: list[Row] = [row for row in rows(workspace) if row.type == "plan_changed"]
    return [dict(row.body) for row in found]
