"""What a task does: follow a skill, think, or run a tool; each behind the one call that the scheduler makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from executor.tasks.conversation import TOOL_CALLS, Conversation, Toolbox
from executor.tasks.inputs import fill, fill_arguments, results_for, shorten
from planner.events import PromptMade, SkillLoaded
from planner.model import Message
from skills.errors import WeftError

if TYPE_CHECKING:
    from executor.tasks.artifacts import Artifacts
    from executor.tasks.memo import Memo
    from planner.events import Record
    from planner.model import Model
    from planner.plan.plan import Plan, Task
    from planner.prompting.models import Models
    from planner.prompting.profile import Profile
    from planner.prompting.prompts import Prompts
    from skills.skill import Skill
    from skills.tools.tool import Tool

INPUT_BUDGET = 60_000


class ToolFailed(WeftError):
    """A tool task's tool answered with an error."""

    code = "TOOL_FAILED"


class SkillSource(Protocol):
    """Where skills are looked up; a body is read when it is asked for."""

    def get(self, name: str) -> Skill | None:
        """The active skill of that name."""

    def load_content(self, name: str, args: str = "") -> str:
        """Its body with its base directory and its arguments filled in."""


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """What every action of a run works with."""

    plan: Plan
    goal: str
    models: Models
    skills: SkillSource
    tools: Mapping[str, Tool]
    prompts: Prompts
    record: Record
    artifacts: Artifacts
    toolbox_for: Callable[[Task], Sequence[Tool]]
    memo: Memo
    files: tuple[str, ...] = ()
    input_budget: int = INPUT_BUDGET
    tool_calls: int = TOOL_CALLS

    async def perform(self, task: Task, results: Mapping[str, str]) -> str:
        """Carry out a task, with the results of those before it."""
        match task.action_type:
            case "tool":
                return await self._run_tool(task, results)
            case "skill":
                return await self._follow_skill(task, results)
            case "llm":
                system = self.prompts.render(self.profile(task).agent("task"), "system", {})
                return await self._converse(task, results, system, self.models.for_role("task"))

    async def _run_tool(self, task: Task, results: Mapping[str, str]) -> str:
        tool = self.tools[task.name or ""]
        given = task.arguments if isinstance(task.arguments, Mapping) else {}
        envelope = await self.memo.tool(tool, task.id, fill_arguments(given, results, tool.parameters))
        if envelope.error is not None:
            raise ToolFailed(f"{envelope.error.code}: {envelope.error.message}")
        return envelope.text

    async def _follow_skill(self, task: Task, results: Mapping[str, str]) -> str:
        name = task.name or ""
        arguments = fill(task.arguments, results) if isinstance(task.arguments, str) else ""
        system = self.skills.load_content(name, arguments)
        self.record(SkillLoaded(task.id, name, system))
        skill = self.skills.get(name)
        model = self.models.named(skill.model) if skill and skill.model else self.models.for_role("task")
        return await self._converse(task, results, self.profile(task).digest(system), model)

    async def _converse(self, task: Task, results: Mapping[str, str], system: str, model: Model) -> str:
        profile = self.profile(task)
        tools = self.toolbox_for(task) if profile.tools else ()
        toolbox = Toolbox(self.memo, tools, self.tool_calls, str(self.artifacts.workspace))
        messages = (Message("system", system), Message("user", self.user_message(task, results)))
        said = tuple(message for message in messages if message.content)
        return await Conversation(model, toolbox, task.id, said, profile.continuations).answer()

    def profile(self, task: Task) -> Profile:
        """How the model that carries out a task is worked with."""
        return self.models.profile("task", task.id)

    def user_message(self, task: Task, results: Mapping[str, str]) -> str:
        """The goal, the task's instruction and the results it builds on, within the budget."""
        wanted = {name: results[name] for name in dict.fromkeys((*task.depends_on, *task.references))}
        texts = shorten(wanted, self.input_budget, self.artifacts)
        variables = {
            "goal": self.goal,
            "title": task.title,
            "instruction": fill(task.instruction, texts) or task.title or "Do what the goal asks.",
            "results": results_for(task, self.plan, texts),
            "files": self.files,
        }
        self.record(PromptMade("task", task.id, variables))
        return self.prompts.render(self.profile(task).agent("task"), "user", variables)
