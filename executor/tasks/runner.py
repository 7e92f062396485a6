"""Runs one task: follows a skill, asks a model, or calls a tool; the scheduler sees a single `run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from executor.approvals.approvals import denial
from executor.tasks.conversation import TOOL_CALLS, Conversation, Toolbox
from executor.tasks.file_reader import FileReader
from executor.tasks.inputs import fill, fill_arguments, given_to, item_texts, results_for, shorten
from planner.approvals import ApprovalRequest
from planner.errors import TaskDenied
from planner.events import PromptMade, SkillLoaded
from planner.model import Message
from skills.errors import WeftError
from skills.text.model_names import carries_address
from skills.text.shorten import cut
from skills.tools.effects import call_text

if TYPE_CHECKING:
    from executor.files.given import GivenFiles
    from executor.tasks.artifacts import Artifacts
    from executor.tasks.memo import Memo
    from planner.events import Record
    from planner.model import Model, OnText
    from planner.plan.plan import Plan, Task
    from planner.prompting.models import Models
    from planner.prompting.profile import Profile
    from planner.prompting.prompts import Prompts
    from skills.skill import Skill
    from skills.tools.tool import Tool

INPUT_BUDGET = 60_000
_PREVIEW = 1_500  # characters of each result that a person is shown


class ToolFailed(WeftError):
    """The tool of a tool task answered with an error."""

    code = "TOOL_FAILED"


class SkillSource(Protocol):
    """Where skills come from; a body is read when it is asked for."""

    def get(self, name: str) -> Skill | None:
        """The active skill of that name."""

    def load_content(self, name: str, args: str = "") -> str:
        """The skill's body, with its base directory and arguments filled in."""


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Runs the tasks of one plan."""

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
    given: GivenFiles | None = None
    on_answer: OnText | None = None  # takes the text of the task whose result is the answer, as it is written

    async def run(self, task: Task, results: Mapping[str, str]) -> str:
        """The output of a task, given the results of the tasks before it."""
        arguments = await self._approved(task, results) if task.needs_approval else None
        if task.action_type == "tool":
            return await self._call_tool(task, results, arguments)
        profile = self.models.profile("task", task.id)
        if task.action_type == "skill":
            system, model = self._load_skill(task, results)
            return await self._converse(task, results, profile.digest(system), model, profile)
        system = self.prompts.render(profile.agent("task"), "system", {})
        return await self._converse(task, results, system, self.models.for_role("task"), profile)

    async def _approved(self, task: Task, results: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Ask a person whether the task may start; the arguments of a tool's task, as allowed."""
        arguments = self._filled(task, results) if task.action_type == "tool" else None
        shown = {name: cut(text, _PREVIEW) for name, text in results.items()}
        what = fill(task.instruction, shown) or task.title
        if arguments is not None:
            what = call_text(task.name or "", arguments)
        question = task.needs_approval if isinstance(task.needs_approval, str) else ""
        preview = "\n".join(filter(None, (question, what)))
        tool = task.name if arguments is not None else None
        request = ApprovalRequest("", task.id, "task", tool, arguments, preview)
        return await self.memo.approvals.task(task, self.memo.inputs(task, results), request)

    def _filled(self, task: Task, results: Mapping[str, str]) -> dict[str, Any]:
        given = task.arguments if isinstance(task.arguments, Mapping) else {}
        return fill_arguments(given, given_to(task, results), self._tool(task).parameters, item_texts(task))

    def _tool(self, task: Task) -> Tool:
        """The tool of a tool's task: a program or function, or else a built-in one."""
        name = task.name or ""
        return self.tools[name] if name in self.tools else {one.name: one for one in self.toolbox_for(task)}[name]

    async def _call_tool(self, task: Task, results: Mapping[str, str], arguments: Mapping[str, Any] | None) -> str:
        tool = self._tool(task)
        given = self._filled(task, results) if arguments is None else arguments
        envelope = await self.memo.tool(tool, task.id, given)
        if (why := denial(envelope)) is not None:
            raise TaskDenied(why)
        if envelope.error is not None:
            raise ToolFailed(f"{envelope.error.code}: {envelope.error.message}")
        return envelope.text

    def _load_skill(self, task: Task, results: Mapping[str, str]) -> tuple[str, Model]:
        """The body of the task's skill, and the model that the skill asks for or else the role's."""
        name = task.name or ""
        texts, item = given_to(task, results), item_texts(task)
        arguments = fill(task.arguments, texts, item) if isinstance(task.arguments, str) else ""
        body = self.skills.load_content(name, arguments)
        self.record(SkillLoaded(task.id, name, body))
        skill = self.skills.get(name)
        wanted = skill.model if skill else None
        own = wanted and not carries_address(wanted)  # a skill may choose a model, not where prompts and keys go
        return body, self.models.named(wanted) if wanted and own else self.models.for_role("task")

    async def _converse(
        self, task: Task, results: Mapping[str, str], system: str, model: Model, profile: Profile
    ) -> str:
        tools = self.toolbox_for(task) if profile.tools else ()
        toolbox = Toolbox(self.memo, tools, self.tool_calls, str(self.artifacts.workspace))
        user = self._user_message(task, results, profile)
        if self.given is not None and not profile.tools:
            user = f"{await self._files_for(task, model, profile)}\n\n{user}".strip()
        messages = tuple(one for one in (Message("system", system), Message("user", user)) if one.content)
        answers = self.on_answer is not None and not self.plan.needs_synthesis and self.plan.finals[0] is task
        on_text = self.on_answer if answers else None
        return await Conversation(model, toolbox, task.id, messages, profile.continuations, on_text).answer()

    async def _files_for(self, task: Task, model: Model, profile: Profile) -> str:
        """The files that a task needs, for a model that cannot read them: whole, or notes from their parts."""
        assert self.given is not None  # noqa: S101 - the caller checked it
        reads = await self.given.take(task, self.plan, self.goal, profile)
        if not reads:
            return ""
        reader = FileReader(self.prompts, profile.agent("reader"), model, self.goal, self.given.name)
        return await reader.text_for(task, reads)

    def _files_below(self, task_id: str) -> str:
        return self.memo.finished.files.below(task_id, self.plan, self.artifacts.folder)

    def _user_message(self, task: Task, results: Mapping[str, str], profile: Profile) -> str:
        """The goal, the task's instruction and the results that it builds on, within the budget."""
        item = item_texts(task)
        named = {f"{task.id}{path or '.item'}": text for path, text in (item or {}).items()}
        texts = shorten(given_to(task, results) | named, self.input_budget, self.artifacts)
        if item is not None:
            item = {path: texts[f"{task.id}{path or '.item'}"] for path in item}
        variables = {
            "goal": self.goal,
            "title": task.title,
            "instruction": fill(task.instruction, texts, item) or task.title or "Do what the goal asks.",
            "results": results_for(task, self.plan, texts, self._files_below),
            "files": self.files,
        }
        self.record(PromptMade("task", task.id, variables))
        return self.prompts.render(profile.agent("task"), "user", variables)
