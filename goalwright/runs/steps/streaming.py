"""Streams a plan: its tasks start while the model is still writing it.

A complete and valid task is recorded and starts. When the plan is accepted, unchanged tasks continue, others are
stopped, and the remaining tasks join. Tasks that ask a person, write, or use the network as a tool never start early.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.events import PlanChanged, TextStreamed, Warned
from goalwright_planner.plan.change import parts_in, with_parts
from goalwright_planner.plan.task_id import parent_of, root_of
from goalwright_planner.prompting.profile import FULL
from goalwright_skills.skill import is_prompt
from goalwright_skills.text.formatting import counted, plural
from goalwright_skills.tools.effects import effects_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright.runs.run_context import RunContext
    from goalwright_executor.approvals.policy import ApprovalPolicy
    from goalwright_executor.results.outcome import Outcome
    from goalwright_executor.scheduling.expand import CurrentPlan
    from goalwright_executor.scheduling.schedule import Schedule
    from goalwright_planner.decompose.streaming import EarlyReader
    from goalwright_planner.model import OnText
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_skills.tools.tool import Tool

_NOT_ACCEPTED = "it is not in the plan that was accepted"


@dataclass(slots=True)
class EarlyTasks:
    """Adds tasks to a run's schedule before its plan is complete; `reader` makes a reader of streamed plans.

    `recorded` are the early tasks from before the run was stopped, and the items that they grew into.
    """

    context: RunContext
    current: CurrentPlan
    schedule: Schedule
    reader: Callable[[], EarlyReader]
    recorded: dict[str, Task] = field(init=False)
    begun: dict[str, Task] = field(default_factory=dict)
    plan: Plan | None = None
    _reading: EarlyReader | None = None
    _work: asyncio.Task[dict[str, Outcome]] | None = None

    def __post_init__(self) -> None:
        self.recorded = dict(self.context.history.ledger.early)

    def hear(self, text: str) -> None:
        """Read the next piece of the plan; an empty one starts over, with this model or another."""
        if self._reading is None or not text:
            self._reading = self.reader()
        for task in self._reading.feed(text):
            if self.begun.setdefault(task.id, task) != task:  # a broken answer began differently
                self._reading.stop()
                return
            if task.id not in self.current.plan:
                self._begin(task)

    def could_begin(self, text: str) -> tuple[str, ...]:
        """Return the ids of the tasks of a complete answer that could have started early."""
        reader = self.reader()
        reader.feed(text)
        return tuple(reader.tasks)

    def _begin(self, task: Task) -> None:
        before, parts = self.recorded.get(task.id), parts_in(self.recorded.values(), task.id)
        if before != task:
            dropped = () if before is None else (task.id, *(part.id for part in parts))
            self.context.record(PlanChanged("stream", None, (task,), dropped))
        for part in parts:
            del self.recorded[part.id]
        grown = parts if before == task else ()  # the task grows into them again and finds them in the plan
        plan = self.current.plan
        self.current.plan = plan.with_tasks((*plan.tasks, task, *grown), grown=len(grown))
        self.schedule.add(task)
        self.context.memo.keeps_replies = True
        if self._work is None:
            self._work = asyncio.create_task(self._run(), name="early tasks")

    async def _run(self) -> dict[str, Outcome]:
        await self.context.models.ready("task")
        return await self.schedule.run()

    async def settle(self, plan: Plan) -> None:
        """Keep the tasks that are unchanged in the accepted plan, with their dependencies; stop the others."""
        import networkx as nx  # slow to import, and not needed for the first call

        planned = {name: task for name, task in self.recorded.items() if parent_of(name) is None}
        begun, kept = planned | self.begun, set[str]()
        for task_id in nx.topological_sort(plan.graph):
            if begun.get(task_id) == plan.task(task_id) and kept.issuperset(plan.task(task_id).depends_on):
                kept.add(task_id)
        lost = [task_id for task_id in begun if task_id not in kept]
        if not lost:
            return
        gone = (*lost, *(part.id for part in self._parts if root_of(part.id) in lost))
        await self.schedule.drop(gone, _NOT_ACCEPTED)
        for task_id in gone:
            self.begun.pop(task_id, None)
            self.recorded.pop(task_id, None)
            self.context.memo.forget(task_id)
        left = tuple(task for task in self.current.plan.tasks if task.id not in gone)
        self.current.plan = self.current.plan.with_tasks(left)
        self.context.record(PlanChanged("stream", None, (), gone, note=_NOT_ACCEPTED))
        tasks = f"{counted(len(lost), 'task')} that began early {plural(len(lost), 'is', 'are')}"
        self.context.record(Warned(f"{tasks} not in the accepted plan ({', '.join(lost)}); their cost counts"))

    @property
    def _parts(self) -> tuple[Task, ...]:
        """The items that tasks have grown into so far, in this process and in the record."""
        return (*parts_in(self.current.plan.tasks), *parts_in(self.recorded.values()))

    def begun_in(self, plan: Plan) -> Plan:
        """Return the accepted plan with the tasks that have begun, and their items."""
        tasks = tuple(self.begun.get(task.id, task) for task in plan.tasks)
        return with_parts(plan.with_tasks(tasks), self._parts)

    async def join(self, plan: Plan) -> None:
        """Continue with the accepted plan, and wait until the early tasks are at rest."""
        self.plan, self.context.memo.keeps_replies = plan, False
        if self._work is not None:
            await self._work

    async def stop(self) -> None:
        """Stop the tasks that have begun, because there will be no plan."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    def text_of(self, task: Task) -> OnText:
        """Return a receiver of a task's text, which is shown once the task is known to write the answer."""
        pieces: list[str] = []

        def hear(text: str) -> None:
            if not text:
                pieces.clear()
            pieces.append(text)
            answering = self.plan.answering if self.plan is not None else None
            if answering is not None and answering.id == task.id:
                if whole := "".join(pieces):
                    self.context.record(TextStreamed("task", task.id, whole))
                pieces.clear()

        return hear


def may_stream(context: RunContext) -> bool:
    """Return whether tasks may start while the plan is being written; plans of small models are completed first."""
    if not context.settings.stream_plan or context.goal.plan:
        return False
    if context.settings.required_skills:  # nothing runs before the plan uses them
        return False
    profile = context.models.profile("decomposer")
    return profile.shape is FULL.shape and not profile.whole_goal


def may_begin(task: Task, tools: Mapping[str, Tool], policy: ApprovalPolicy) -> bool:
    """Return whether a task does no harm if its plan is refused."""
    if task.needs_approval or task.action_type not in ("llm", "skill", "tool"):
        return False
    if task.action_type != "tool":
        return not is_prompt(task.name or "")  # a server prompt would call its server
    tool = tools.get(task.name or "")
    manifest = getattr(tool, "manifest", None)
    if tool is None or (manifest is None and not hasattr(tool, "effects")) or getattr(manifest, "network", False):
        return False
    effects = effects_of(tool, task.arguments if not isinstance(task.arguments, str) else {})
    writes = effects.writes or getattr(manifest, "writes", False)
    return not writes and policy.decide(tool.name, effects).decision == "allow"
