"""One run's walk: select skills → plan → execute → synthesise → answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from executor.history.run_history import RunHistory
from executor.tasks.outcome import Cancelled, Done, Outcome
from executor.tasks.runner import TaskRunner
from executor.tasks.schedule import ScheduleLimits, run_plan
from executor.tasks.synthesis import Synthesis
from planner.decompose.decompose import Brief, decompose, messages
from planner.errors import ModelError, RecordEnded
from planner.events import CatalogueTaken, PlanMade, RunFinished, SkillsSelected, ToolLogged, Warned
from planner.prompting.profile import FULL
from skills.selection import detectors
from skills.text.plural import counted, plural
from weft.runs.fingerprints import fingerprints
from weft.workspace.blocking_model import BlockingModel
from weft.workspace.llm_detector import LlmDetector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from executor.tasks.artifacts import Artifacts
    from executor.tasks.memo import Memo
    from planner.events import Record
    from planner.model import Message
    from planner.plan.plan import Plan
    from planner.prompting.models import Models
    from skills.programs.executable import CallLog
    from skills.selection.detector import Selection
    from weft.runs.goal import Goal
    from weft.workspace.workspace import Catalogue, Workspace

_CHARACTERS_A_TOKEN = 4
NO_RESULT = "TASK_FAILED"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would begin with. The estimate is rough: about four characters to a token."""

    selections: tuple[Selection, ...]
    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: str


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A goal being pursued, with everything that this one run needs."""

    goal: Goal
    workspace: Workspace
    models: Models
    memo: Memo
    artifacts: Artifacts
    date: str
    history: RunHistory = field(default_factory=RunHistory)

    @property
    def record(self) -> Record:
        """Where events go."""
        return self.memo.record

    async def run(self) -> RunFinished:
        """From the goal to how the run ended."""
        self.workspace.prompts.check()  # before anything is spent, not when its turn comes
        catalogue = await self._catalogue()
        plan = await self._plan(catalogue)
        if plan.clarification and not plan.tasks:
            return RunFinished("clarification", question=plan.clarification)
        runner = self._task_runner(plan, catalogue)
        settings = self.workspace.settings
        limits = ScheduleLimits(settings.max_concurrency, settings.task_timeout)
        outcomes = await run_plan(plan, runner.run, self.record, limits, self.memo)
        if any(isinstance(outcome, Cancelled) for outcome in outcomes.values()):
            raise RecordEnded("the record of this run ends before its end")
        return await self._answer(plan, outcomes)

    async def plan(self) -> Plan:
        """The plan alone."""
        return await self._plan(await self._catalogue())

    async def preview(self) -> Preview:
        """What would be asked, without asking."""
        catalogue = await self._catalogue(asking=False)
        prompt = messages(self._brief(catalogue), self.workspace.prompts) if self.goal.plan is None else ()
        characters = sum(len(message.content) for message in prompt)
        calls = "1 to plan, 1 or more for each task, 1 to put the answer together"
        if self.goal.plan is not None:
            models = sum(task.action_type != "tool" for task in self.goal.plan.tasks)
            calls = f"{models + self.goal.plan.needs_synthesis} or more, as tasks call tools"
        if self._asks:
            calls = f"1 to select skills (those shown are the ranked ones), {calls}"
        return Preview(catalogue.selections, prompt, characters // _CHARACTERS_A_TOKEN, calls)

    async def _catalogue(self, *, asking: bool = True) -> Catalogue:
        """The skills and tools for this goal; those that the run began with, where it is taken up again."""
        catalogue = await self._looked(asking=asking and self.history.selected is None)
        then, chosen = self.history.catalogue, self.history.selected
        if then is not None and chosen is not None:
            catalogue = replace(catalogue, skill_listing=then.skill_listing, tool_listing=then.tool_listing)
            return replace(catalogue, selections=chosen.selections)
        for warning in catalogue.warnings:
            self.record(Warned(warning))
        prints = await asyncio.to_thread(fingerprints, catalogue)
        self.record(CatalogueTaken(prints, catalogue.skill_listing, catalogue.tool_listing))
        detector = self.workspace.settings.detector
        self.record(SkillsSelected(detector, catalogue.selections, len(catalogue.skills)))
        return catalogue

    async def _looked(self, *, asking: bool) -> Catalogue:
        """The skills and tools as they are now; a detector that asks a model is stood in for where none is asked."""
        look, goal = self.workspace.catalogue, self.goal
        if not self._asks:
            return await asyncio.to_thread(look, goal)
        if not asking:
            return await asyncio.to_thread(look, goal, self.workspace.skills.ranked)
        with BlockingModel(self.models.for_role("detector")) as line:
            llm_detector = LlmDetector.of(self.workspace, self.models, self.workspace.meanwhile(line))
            loop = asyncio.get_running_loop()
            catalogue = await loop.run_in_executor(self.workspace.askers, look, goal, llm_detector)
        return replace(catalogue, warnings=(*catalogue.warnings, *llm_detector.warnings))

    @property
    def _asks(self) -> bool:
        return self.workspace.settings.detector == detectors.ASKING

    async def _plan(self, catalogue: Catalogue) -> Plan:
        if self.history.planned is not None:
            return self.history.planned.plan
        if self.goal.plan is not None:
            self.record(PlanMade(self.goal.plan, 0))
            return self.goal.plan
        model = self.models.for_role("decomposer")
        return await decompose(self._brief(catalogue), model, self.workspace.prompts, self.record)

    def _brief(self, catalogue: Catalogue) -> Brief:
        return Brief(
            goal=self.goal.text,
            skills=catalogue.skill_listing,
            tools=catalogue.tool_listing,
            date=self.date,
            known=catalogue.known,
            names=tuple(one.name for one in catalogue.selections),
            profile=self.models.profile("decomposer"),
            files=tuple(str(path) for path in self.goal.files),
            answers=self.goal.answers,
        )

    def _task_runner(self, plan: Plan, catalogue: Catalogue) -> TaskRunner:
        tools = self.workspace.tools.by_name(self.artifacts.folder, log=self._log, progress=self._build)
        return TaskRunner(
            plan=plan,
            goal=self.goal.text,
            models=self.models,
            skills=self.workspace.skills.registry,
            tools=tools,
            prompts=self.workspace.prompts,
            record=self.record,
            artifacts=self.artifacts,
            memo=self.memo,
            toolbox_for=lambda task: self.workspace.task_tools(task, catalogue, tools, self.goal.files),
            files=tuple(str(path) for path in self.goal.files),
            input_budget=self.workspace.settings.input_budget,
            tool_calls=self.workspace.settings.tool_calls,
        )

    def _log(self, log: CallLog) -> None:
        self.record(ToolLogged(log.tool, log.log, log.stderr, log.exit_status, log.seconds))

    def _build(self, message: str) -> None:
        self.record(Warned(message))

    async def _answer(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> RunFinished:
        """The answer from what was done; it falls back on the results themselves where it cannot be written."""
        on_text = _unheard if self.goal.stream else None
        profile = self.models.profile("synthesis") if plan.needs_synthesis else FULL  # else there may be no model
        agent, prompts, more = profile.agent("synthesis"), self.workspace.prompts, profile.continuations
        synthesis = Synthesis(self.goal.text, plan, prompts, self.artifacts, on_text, agent, self.record, more)
        missing = synthesis.missing(outcomes)
        error = _lack(missing, len(plan.tasks)) if missing else None
        if not any(isinstance(outcome, Done) for outcome in outcomes.values()):
            return RunFinished("failed", error=error, code=NO_RESULT)
        try:
            if plan.needs_synthesis:
                answer = await synthesis.answer(outcomes, self.models.for_role("synthesis"))
            else:
                answer = synthesis.without_model(outcomes)
        except ModelError as failure:
            said = f"the results could not be put together: {failure}"
            said = f"{error}; {said}" if error else said
            return RunFinished("partial", synthesis.without_model(outcomes), said, code=failure.code)
        return RunFinished("partial" if missing else "done", answer, error, code=NO_RESULT if missing else None)


def _lack(missing: Sequence[str], tasks: int) -> str:
    has = plural(len(missing), "has", "have")
    return f"{len(missing)} of {counted(tasks, 'task')} {has} no result: {'; '.join(missing)}"


def today() -> str:
    """The date as prompts have it."""
    return f"{datetime.now().astimezone():%A, %Y-%m-%d}"


def _unheard(text: str) -> None:
    """Asks for streaming; the pieces themselves arrive as events."""
