"""Runs one task: follows a skill, asks a model, or calls a tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_executor.approvals.approvals import denial
from goalwright_executor.model_loop.assignment import Assignment, Checker, CheckFailed
from goalwright_executor.model_loop.file_reader import FileReader
from goalwright_executor.model_loop.form import Form
from goalwright_executor.model_loop.model_loop import TOOL_CALLS, Toolbox
from goalwright_executor.results.inputs import (
    beginning,
    fill,
    fill_arguments,
    given_to,
    item_texts,
    previous_round,
    results_for,
    shorten,
    texts_of,
)
from goalwright_executor.results.outcome import Done
from goalwright_planner.approvals import ApprovalRequest
from goalwright_planner.errors import TaskDenied
from goalwright_planner.events import PromptMade, ResultChecked, SkillLoaded, SkillShortened, TaskReused, Warned
from goalwright_planner.events.tasks import FROM_CACHE
from goalwright_planner.small_models.skill_digest import SkillDigest, digest
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.image_file import MOST_IMAGES, MOST_OF_A_CALL, fitting
from goalwright_skills.text.formatting import cut, nearest_names
from goalwright_skills.text.untrusted import carries_address
from goalwright_skills.tools.effects import call_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_executor.files.given import GivenFiles
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.memo import FindResult, Memo
    from goalwright_planner.model import Model, OnText
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.models import Models
    from goalwright_planner.prompting.profile import Profile
    from goalwright_planner.prompting.prompts import Prompts
    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.image_file import Image
    from goalwright_skills.mcp.tools import McpPrompt
    from goalwright_skills.tools.tool import Tool

INPUT_BUDGET = 60_000
_IMAGE_LIMIT = f"{MOST_IMAGES} images and {MOST_OF_A_CALL:,} bytes of them"
_PREVIEW = 1_500  # characters of each result that a person is shown


class ToolFailed(GoalwrightError):
    """The tool of a tool task does not exist, or returned an error."""

    code = "TOOL_FAILED"


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Runs the tasks of one run, whose `plan` may change; `kept` finds reusable results of other runs.

    `on_text` returns the receiver of a task's streamed text. `earlier` describes the previous turns to a task.
    `server_prompts` are prompts of MCP servers, which tasks follow like skills.
    """

    plan: Callable[[], Plan]
    goal: str
    models: Models
    skills: Registry
    tools: Mapping[str, Tool]
    prompts: Prompts
    artifacts: Artifacts
    toolbox_for: Callable[[Task], Sequence[Tool]]
    memo: Memo
    input_budget: int = INPUT_BUDGET
    tool_calls: int = TOOL_CALLS
    given_files: GivenFiles | None = None
    on_text: Callable[[Task], OnText | None] | None = None
    kept: FindResult | None = None
    earlier: Callable[[Task, Profile], str] | None = None
    server_prompts: Mapping[str, McpPrompt] = field(default_factory=dict)

    async def run(self, task: Task, results: Mapping[str, str]) -> str | Done:
        """Return the output of a task, given the results of the tasks before it."""
        arguments = await self.approve(task, results)
        if task.action_type == "tool":
            return await self._call_tool(task, results, arguments)
        work = await self._assignment(task, results)
        checker = self._checker(task, results, work)
        if (output := await self._found_elsewhere(task, work, checker)) is not None:
            return output
        self.memo.first_asked.pop(task.id, None)  # the files of the task are part of its request
        if checker is not None:
            output, called = await self._until_it_holds(task, work, checker)
        else:
            loop = work.loop()
            output, called = await work.answer(loop), loop.called
        asked = self.memo.first_asked.pop(task.id, "")
        return Done(output, self._key(asked, task, checker) if asked and not called else "")

    async def _found_elsewhere(self, task: Task, work: Assignment, checker: Checker | None) -> str | None:
        """Return the output of the same task in another run, if such results may be used."""
        if self.kept is None or task.repeat is not None:  # a round's output is not the task's
            return None
        asked = self.memo.hash_anywhere(work.loop().request(), work.model.name)
        output = await self.kept(self._key(asked, task, checker))
        if output is not None:
            self.memo.record(TaskReused(task.id, output, FROM_CACHE))
        return output

    def _key(self, asked: str, task: Task, checker: Checker | None) -> str:
        """Return the hash of everything that decides the task's output in any run: its request and its check."""
        if task.check is None or checker is None:
            return asked
        return self.memo.capture.hash([asked, checker.ask, checker.instruction, checker.model.name, task.check.tries])

    async def _until_it_holds(self, task: Task, work: Assignment, checker: Checker) -> tuple[str, int]:
        """Return the first output that passes the task's check, and the number of tool calls.

        The task is repeated with the reason why the previous output failed.
        """
        feedback, called, tries = "", 0, task.check.tries if task.check is not None else 0
        for attempt in range(1, tries + 2):
            loop = work.loop(feedback)
            output = await work.answer(loop)
            called += loop.called
            verdict = await checker.judge(output)
            self.memo.record(ResultChecked(task.id, attempt, verdict.holds, verdict.why))
            if verdict.holds:
                return output, called
            rejected, _ = beginning(output, self.input_budget, self.artifacts)
            values = {"ask": checker.ask, "why": verdict.why, "result": rejected}
            feedback = self.prompts.render("checker", "again", values)
        raise CheckFailed(f"its result does not pass the check, {_times(tries)}: {verdict.why}")

    async def _assignment(self, task: Task, results: Mapping[str, str]) -> Assignment:
        """Assemble the prompt: load the skill, and read files for a model without tools."""
        profile = self.models.profile("task", task.id, task.model)
        if task.action_type == "skill":
            body, model = await self._load_skill(task, results)
            skill = self._shortened(task, digest(body, profile.skill_characters))
            system = f"{self._system(profile)}\n\n{skill}" if profile.system_above_skill else skill
        else:
            body, model = "", self._model(task)
            system = self._system(profile)
        tools = self.toolbox_for(task) if profile.tools else ()
        toolbox = Toolbox(self.memo, tools, self.tool_calls, str(self.artifacts.workspace))
        instruction, user = self._user_message(task, results, profile)
        if self.given_files is not None and not profile.tools:
            user = f"{await self._files_for(task, model, profile)}\n\n{user}".strip()
        if self.earlier is not None:
            user = f"{self.earlier(task, profile)}\n\n{user}".strip()
        if task.previous is not None:
            previous = previous_round(task.previous, self.prompts, self.input_budget, self.artifacts)
            user = f"{user}\n\n{previous}"
        form = Form(task.output_schema, self.prompts) if task.output_schema is not None else None
        images, not_shown = self._images_for(task)
        user = "\n\n".join(filter(None, (user, not_shown)))
        return Assignment(
            task.id,
            instruction,
            system,
            user,
            model,
            toolbox,
            profile.continuations,
            form,
            self._on_text(task),
            about=[self.memo.inputs(task, results), body, *([[image.sha256 for image in images]] if images else [])],
            images=images,
        )

    def _images_for(self, task: Task) -> tuple[tuple[Image, ...], str]:
        """Return the images of a task and of tasks before it, and lines about those that are not shown."""
        given, made = self.memo.images.given, self.memo.finished.files
        images, refused = self.given_files.images_for(task, given) if self.given_files is not None else ([], {})
        for before in dict.fromkeys((*task.depends_on, *task.references)):
            images += made.images_of(before, self.plan())
        shown, left = fitting(images)
        refused |= {image.name: "there is no more room for images in this prompt" for image in left}
        for image in left:
            self.memo.record(Warned(f"task {task.id} is not shown {image}: a prompt holds {_IMAGE_LIMIT} at most"))
        lines = (f"The image {name} cannot be shown: {why}." for name, why in refused.items())
        return tuple(shown), "\n".join(lines)

    def _system(self, profile: Profile) -> str:
        return self.prompts.render(profile.agent("task"), "system", {})

    def _shortened(self, task: Task, skill: SkillDigest) -> str:
        """Return the part of a skill that the task's model gets; omissions are recorded."""
        if skill.left_out or skill.characters:
            self.memo.record(SkillShortened(task.id, task.name or "", skill.left_out, skill.characters))
        return skill.text

    def _on_text(self, task: Task) -> OnText | None:
        """Return the receiver of the task's streamed text; None if the text may be rewritten."""
        if self.on_text is None or task.output_schema is not None or task.check is not None:
            return None
        return self.on_text(task)

    def _model(self, task: Task, wanted: str | None = None) -> Model:
        """Return the model that the plan names, else the one that the skill wants, else the role's."""
        if task.model is None and wanted:
            return self.models.named(wanted)
        return self.models.for_role("task", task.model)

    def _checker(self, task: Task, results: Mapping[str, str], work: Assignment) -> Checker | None:
        if task.check is None:
            return None
        texts = shorten(texts_of(task.referred(task.check.ask), results), self.input_budget, self.artifacts)
        return Checker(
            task=task.id,
            ask=fill(task.check.ask, texts, item_texts(task)),
            instruction=work.instruction,
            model=self.models.for_role("checker", task.check.model),
            prompts=self.prompts,
            memo=self.memo,
            artifacts=self.artifacts,
            budget=self.input_budget,
        )

    async def approve(self, task: Task, results: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Ask a person whether the task may start, if needed; returns the arguments of a tool task as allowed."""
        if not task.needs_approval:
            return None
        arguments = self._filled(task, results) if task.action_type == "tool" else None
        given = (*task.given, *task.referred(task.needs_approval))
        shown, item = {key: cut(text, _PREVIEW) for key, text in texts_of(given, results).items()}, item_texts(task)
        action = fill(task.instruction, shown, item) or task.title
        if arguments is not None:
            action = call_text(task.name or "", arguments)
        question = fill(task.needs_approval, shown, item) if isinstance(task.needs_approval, str) else ""
        preview = "\n".join(filter(None, (question, action)))
        tool = task.name if arguments is not None else None
        request = ApprovalRequest("", task.id, "task", tool, arguments, preview)
        return await self.memo.approvals.task(task, self.memo.inputs(task, results), request)

    def _filled(self, task: Task, results: Mapping[str, str]) -> dict[str, Any]:
        return fill_arguments(task, results, self._tool(task).parameters)

    def _tool(self, task: Task) -> Tool:
        """Return the tool of a tool task; it may have been removed since planning."""
        name = task.name or ""
        if name in self.tools:
            return self.tools[name]
        known = {**self.tools, **{tool.name: tool for tool in self.toolbox_for(task)}}
        if name not in known:
            raise ToolFailed(f"there is no tool {name!r}; known tools: {nearest_names(name, known)}")
        return known[name]

    async def _call_tool(self, task: Task, results: Mapping[str, str], arguments: Mapping[str, Any] | None) -> str:
        tool = self._tool(task)
        given = self._filled(task, results) if arguments is None else arguments
        return await self._called(tool, task, given)

    async def _called(self, tool: Tool, task: Task, given: Mapping[str, Any]) -> str:
        """Return the text of a call; its failure is the task's."""
        envelope = await self.memo.tool(tool, task.id, given)
        if (reason := denial(envelope)) is not None:
            raise TaskDenied(reason)
        if envelope.error is not None:
            raise ToolFailed(f"{envelope.error.code}: {envelope.error.message}")
        return envelope.text

    async def _load_skill(self, task: Task, results: Mapping[str, str]) -> tuple[str, Model]:
        """Return the body of the task's skill, and the model for it."""
        name = task.name or ""
        texts, item = texts_of(task.given, results), item_texts(task)
        given = task.arguments if isinstance(task.arguments, str) else ""
        if (prompt := self.server_prompts.get(name)) is not None:
            filled = {key: fill(value, texts, item) for key, value in prompt.parse_arguments(given).items()}
            content = await self._called(prompt, task, filled)
            return self.memo.recorded(SkillLoaded(task.id, name, content)).content, self._model(task)
        arguments = fill(given, texts, item)
        body = self.memo.recorded(SkillLoaded(task.id, name, self.skills.load_content(name, arguments))).content
        skill = self.skills.get(name)
        wanted = skill.model if skill else None
        own = wanted and not carries_address(
            wanted
        )  # a skill may choose a model, but not where prompts and keys are sent
        return body, self._model(task, wanted if own else None)

    async def _files_for(self, task: Task, model: Model, profile: Profile) -> str:
        """Return the text of files for a model that cannot read them: whole, or notes on their parts."""
        assert self.given_files is not None  # noqa: S101 - the caller checked it
        given = self.memo.images.given
        looked_at = {*(image.path for image in given.images), *given.refused}
        reads = await self.given_files.take(task, self.plan(), self.goal, profile, looked_at)
        if not reads:
            return ""
        reader = FileReader(self.prompts, profile.agent("reader"), model, self.goal, self.given_files.name)
        return await reader.text_for(task, reads)

    def _files_below(self, task_id: str) -> str:
        return self.memo.finished.files.below(task_id, self.plan(), self.artifacts.folder)

    def _user_message(self, task: Task, results: Mapping[str, str], profile: Profile) -> tuple[str, str]:
        """Return the task's instruction, and the user message with the goal and results within the budget."""
        item = item_texts(task)
        named = {f"{task.id}{path or '.item'}": text for path, text in (item or {}).items()}
        texts = shorten(given_to(task, results) | named, self.input_budget, self.artifacts)
        if item is not None:
            item = {path: texts[f"{task.id}{path or '.item'}"] for path in item}
        instruction = fill(task.instruction, texts, item) or task.title or "Do what the goal asks."
        variables = {
            "goal": self.goal,
            "title": task.title,
            "instruction": instruction,
            "results": results_for(task, self.plan(), texts, self._files_below),
            "files": self.given_files.paths if self.given_files is not None else (),
        }
        self.memo.record(PromptMade("task", task.id, variables))
        return instruction, self.prompts.render(profile.agent("task"), "user", variables)


def _times(tries: int) -> str:
    return f"done {tries + 1} times" if tries else "done once"
