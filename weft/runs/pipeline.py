"""The steps of a run: select skills → plan → run the tasks → synthesise → answer."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from executor.history.run_history import RunHistory
from executor.tasks.condition import ConditionCheck
from executor.tasks.expand import CurrentPlan, FanOut, GrowthLimits, SetLimits
from executor.tasks.outcome import Cancelled, Done, Grown, Outcome
from executor.tasks.runner import TaskRunner
from executor.tasks.schedule import ScheduleLimits, run_plan
from executor.tasks.synthesis import NOTHING_NEEDED, Synthesis, missing_error
from planner import rules
from planner.decompose.decompose import Brief, decompose, messages
from planner.errors import ModelError, RecordEnded
from planner.events import CatalogueTaken, PlanMade, RunFinished, SkillsSelected, ToolLogged, Warned
from planner.model import estimated_tokens
from planner.plan import reading
from planner.prompting.profile import FULL
from skills.selection import detectors
from weft.workspace.blocking_model import BlockingModel
from weft.workspace.llm_detector import LlmDetector
from weft.workspace.planned_selection import PLAN, PlannedSelection, planned_skills

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from executor.tasks.artifacts import Artifacts
    from executor.tasks.memo import Memo
    from planner.events import Record
    from planner.model import Message
    from planner.plan.plan import Plan, Task
    from planner.prompting.models import Models
    from planner.prompting.prompts import Prompts
    from skills.programs.executable import CallLog
    from skills.selection.detector import Selection
    from weft.runs.goal import Goal
    from weft.settings.settings import Settings
    from weft.workspace.recorded_selection import RecordedSelection
    from weft.workspace.workspace import Catalogue, Workspace

NO_RESULT = "TASK_FAILED"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would start with; `prompt_tokens` is a rough estimate."""

    selections: tuple[Selection, ...]
    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The preview as `run --dry-run --json` prints it."""
        return {
            "selected": [asdict(one) for one in self.selections],
            "prompt": [{"role": message.role, "content": message.content} for message in self.messages],
            "estimate": {"prompt_tokens": self.prompt_tokens, "calls": self.calls},
        }


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The way from a goal to its answer, with everything that one run needs.

    Of a resumed run, `history` has the steps that are on record; they are not taken again. `then` is what a replayed
    run of earlier rules selected, `growth` the limits that a replayed run was given.
    """

    goal: Goal
    workspace: Workspace
    settings: Settings
    models: Models
    memo: Memo
    artifacts: Artifacts
    date: str
    history: RunHistory = field(default_factory=RunHistory)
    rules: int = rules.CURRENT
    then: RecordedSelection | None = None
    growth: Callable[[GrowthLimits], GrowthLimits] | None = None

    @property
    def prompts(self) -> Prompts:
        """The prompts by the rules of the run."""
        return self.workspace.prompts(self.rules)

    @property
    def record(self) -> Record:
        """Takes the run's events."""
        return self.memo.record

    async def run(self) -> RunFinished:
        """Run the goal; returns how it ended."""
        self.prompts.check()  # before anything is spent
        catalogue = await self._catalogue()
        plan = await self._plan(catalogue)
        if plan.clarification and not plan.tasks:
            return RunFinished("clarification", question=plan.clarification)
        current = CurrentPlan(plan, self.record)
        outcomes = await self._run_tasks(current, catalogue)
        if any(isinstance(outcome, Cancelled) for outcome in outcomes.values()):
            raise RecordEnded("the record of this run ends before its end")
        return await self._answer(current.plan, outcomes)

    async def _run_tasks(self, current: CurrentPlan, catalogue: Catalogue) -> dict[str, Outcome]:
        plan, settings = current.plan.without_grown(), self.settings
        runner = self._task_runner(current.plan, catalogue)
        growth: GrowthLimits = SetLimits(catalogue.known, settings.max_items)
        fan_out = FanOut(current, self.memo, self.growth(growth) if self.growth else growth)
        condition = ConditionCheck(
            current, self.models, self.prompts, self.record, self.artifacts, settings.input_budget
        )

        async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
            return await runner.run(task, results) if task.for_each is None else fan_out.grow(task, results)

        if not any(task.action_type == "tool" for task in plan.tasks if not task.depends_on):
            await self.models.ready("task")
        limits = ScheduleLimits(settings.max_concurrency, settings.task_timeout)
        return await run_plan(plan, run_task, self.record, limits, self.memo, condition.check)

    async def plan(self) -> Plan:
        """Make the plan, without running it."""
        return await self._plan(await self._catalogue())

    async def preview(self) -> Preview:
        """What would be asked, without asking."""
        catalogue = await self._catalogue(ask=False)
        prompt = messages(self._brief(catalogue), self.prompts) if self.goal.plan is None else ()
        calls = "1 to plan, 1 or more for each task, 1 to write the answer"
        if self.goal.plan is not None:
            plan = self.goal.plan
            models = sum((task.action_type != "tool") + task.asks for task in plan.tasks)
            calls = f"{models + plan.needs_synthesis} or more, as tasks call tools"
            if any(task.for_each is not None for task in plan.tasks):
                calls += " and lists have items"
        if self._detector_asks:
            calls = f"1 to select skills (those shown here are ranked without a model), {calls}"
        warnings = self._unmet_needs(self.goal.plan, catalogue) if self.goal.plan is not None else ()
        return Preview(catalogue.selections, prompt, estimated_tokens(prompt), calls, tuple(warnings))

    async def _catalogue(self, *, ask: bool = True) -> Catalogue:
        """The skills and tools for this goal; a resumed run keeps the selection and the listings on record."""
        recorded, selected = self.history.catalogue, self.history.selected
        catalogue = await self._select(ask=ask and selected is None)
        if recorded is not None and selected is not None:
            catalogue = replace(catalogue, skill_listing=recorded.skill_listing, tool_listing=recorded.tool_listing)
            return replace(catalogue, selections=selected.selections)
        for warning in catalogue.warnings:
            self.record(Warned(warning))
        prints = self.workspace.fingerprints.known(catalogue.skills)
        if prints is None:
            prints = await asyncio.to_thread(self.workspace.take_fingerprints, catalogue)
        self.record(
            CatalogueTaken(prints, catalogue.skill_listing, catalogue.tool_listing, self.workspace.tools.own_specs)
        )
        detector = PLAN if self._planned is not None else self.settings.detector
        self.record(SkillsSelected(detector, catalogue.selections, len(catalogue.skills)))
        return catalogue

    async def _select(self, *, ask: bool) -> Catalogue:
        """The skills and tools as they are now; the ranked detector replaces one that may not ask its model."""
        workspace = self.workspace
        take = partial(workspace.catalogue, self.goal, made_by=self.rules)
        if self.then is not None:
            return await asyncio.to_thread(take, self.then, self.then.most)
        if self._planned is not None:
            return await asyncio.to_thread(take, self._planned)
        if not self._detector_asks:
            return await asyncio.to_thread(take)
        if not ask:
            return await asyncio.to_thread(take, workspace.skills.ranked)
        with BlockingModel(self.models.for_role("detector")) as model:
            detector = LlmDetector.of(workspace, self.models, workspace.unlocked(model), self.rules)
            loop = asyncio.get_running_loop()
            catalogue = await loop.run_in_executor(workspace.detector_threads, take, detector)
        return replace(catalogue, warnings=(*catalogue.warnings, *detector.warnings))

    @property
    def _planned(self) -> PlannedSelection | None:
        """The skills of the plan that came with the goal, if it names any; runs of earlier rules selected others."""
        if self.then is not None or self.rules < rules.PLANNED_SKILLS:
            return None
        return PlannedSelection.of(self.goal.plan, self.workspace.skills.ranked)

    @property
    def _detector_asks(self) -> bool:
        return self.settings.detector == detectors.ASKING and self._planned is None

    async def _plan(self, catalogue: Catalogue) -> Plan:
        if self.history.plan is not None:
            return self.history.plan
        plan = await self._new_plan(catalogue)
        for warning in self._unmet_needs(plan, catalogue):
            self.record(Warned(warning))
        return plan

    def _unmet_needs(self, plan: Plan, catalogue: Catalogue) -> list[str]:
        """A warning for each skill of a plan that needs what this run does not have."""
        if self.rules < rules.LISTED_NEEDS:
            return []
        return [
            f"the plan uses the skill {name!r}, which needs {' and '.join(missing)}: tasks here do not have it, "
            "so the skill works only with what the goal, its files and other tasks give it"
            for name, missing in self.workspace.unmet(planned_skills(plan), catalogue.able).items()
        ]

    async def _new_plan(self, catalogue: Catalogue) -> Plan:
        if self.goal.plan is not None:
            plan = self.goal.plan.without_grown()  # they grow again, and equal ones are reused
            self.record(PlanMade(plan, 0, self.goal.repairs))
            if self.goal.repairs:
                self.record(Warned(f"the plan was repaired: {reading.told(self.goal.repairs)}"))
            return plan
        model = self.models.for_role("decomposer")
        await self.models.ready("decomposer")
        return await decompose(self._brief(catalogue), model, self.prompts, self.record)

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
            rules=self.rules,
        )

    def _task_runner(self, plan: Plan, catalogue: Catalogue) -> TaskRunner:
        tools = self.workspace.tools.by_name(self.artifacts.folder, log=self._record_log, progress=self._record_build)
        return TaskRunner(
            plan=plan,
            goal=self.goal.text,
            models=self.models,
            skills=self.workspace.skills.registry,
            tools=tools,
            prompts=self.prompts,
            record=self.record,
            artifacts=self.artifacts,
            memo=self.memo,
            toolbox_for=lambda task: self.workspace.task_tools(
                task, catalogue, tools, self.goal.files, self.artifacts.folder
            ),
            files=tuple(str(path) for path in self.goal.files),
            input_budget=self.settings.input_budget,
            tool_calls=self.settings.tool_calls,
            on_answer=_stream if self.goal.stream else None,
        )

    def _record_log(self, log: CallLog) -> None:
        self.record(ToolLogged(log.tool, log.log, log.stderr, log.exit_status, log.seconds))

    def _record_build(self, message: str) -> None:
        self.record(Warned(message))

    async def _answer(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> RunFinished:
        """The answer; the results themselves if no model can write one."""
        on_text = _stream if self.goal.stream else None
        profile = self.models.profile("synthesis") if plan.needs_synthesis else FULL  # a plan of tools has no model
        agent, prompts, more = profile.agent("synthesis"), self.prompts, profile.continuations
        synthesis = Synthesis(self.goal.text, plan, prompts, self.artifacts, on_text, agent, self.record, more)
        missing = synthesis.missing(outcomes)
        error = missing_error(missing, len(plan.tasks)) if missing else None
        if not any(isinstance(outcome, Done) for outcome in outcomes.values()):
            if not missing:
                return RunFinished("done", NOTHING_NEEDED)
            return RunFinished("failed", error=error, code=NO_RESULT)
        try:
            if plan.needs_synthesis:
                answer = await synthesis.answer(outcomes, self.models.for_role("synthesis"))
            else:
                answer = synthesis.without_model(outcomes)
        except ModelError as failure:
            what = f"the answer could not be written: {failure}"
            what = f"{error}; {what}" if error else what
            return RunFinished("partial", synthesis.without_model(outcomes), what, code=failure.code)
        return RunFinished("partial" if missing else "done", answer, error, code=NO_RESULT if missing else None)


def today() -> str:
    """The date as prompts show it."""
    return f"{datetime.now().astimezone():%A, %Y-%m-%d}"


def _stream(text: str) -> None:
    """Asks for streaming; the pieces arrive as events."""
