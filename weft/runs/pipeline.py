"""The steps of a run: select skills → plan → run the tasks → synthesise → answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from executor.files.given import GivenFiles
from executor.history.run_history import RunHistory
from executor.tasks.expand import CurrentPlan, GrowthLimits
from executor.tasks.outcome import Cancelled, Outcome, Waiting
from executor.tasks.synthesis import Synthesis
from planner import rules
from planner.decompose.decompose import Brief, decompose, messages
from planner.errors import AnswerNeeded, RecordEnded
from planner.events import CatalogueTaken, PlanMade, RunFinished, SkillsSelected, Warned
from planner.goal.deliverables import deliverables
from planner.model import estimated_tokens
from planner.plan import reading
from planner.prompting.profile import FULL
from skills.selection import detectors
from weft.runs.answer import answered
from weft.runs.preview import Preview, expected_calls
from weft.runs.task_run import run_tasks, stream
from weft.workspace.blocking_model import BlockingModel
from weft.workspace.llm_detector import LlmDetector
from weft.workspace.planned_selection import PLAN, PlannedSelection, planned_skills

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from executor.tasks.artifacts import Artifacts
    from executor.tasks.memo import Memo
    from planner.events import FileRead, Record
    from planner.model import Message
    from planner.plan.plan import Plan
    from planner.prompting.models import Models
    from planner.prompting.prompts import Prompts
    from weft.runs.goal import Goal
    from weft.settings.settings import Settings
    from weft.workspace.recorded_selection import RecordedSelection
    from weft.workspace.workspace import Catalogue, Workspace


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The way from a goal to its answer, with everything that one run needs.

    Of a resumed run, `history` has the steps that are on record; they are not taken again. Of a replayed run, `then` is
    what it selected by earlier rules, `files` what its tasks read; `file_changed` hears of files that differ today,
    `growth` gives the limits that it had. `offered` are the built-in tools that a run on record began with.
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
    files: Mapping[tuple[str, str], FileRead] = field(default_factory=dict)
    file_changed: Callable[[FileRead, str], None] | None = None
    growth: Callable[[GrowthLimits], GrowthLimits] | None = None
    offered: tuple[str, ...] | None = None

    @property
    def tool_set(self) -> tuple[str, ...]:
        """The built-in tools that tasks are offered."""
        return self.settings.tool_set if self.offered is None else self.offered

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
        try:
            plan = await self._answered_plan(catalogue)
        except AnswerNeeded as needed:
            return RunFinished("waiting", question=needed.request.preview)
        given, current = self._given_files(), CurrentPlan(plan, self.record)
        outcomes = await run_tasks(self, current, catalogue, given)
        if any(isinstance(outcome, Cancelled) for outcome in outcomes.values()):
            raise RecordEnded("the record of this run ends before its end")
        if any(isinstance(outcome, Waiting) for outcome in outcomes.values()):
            return RunFinished("waiting")
        return await self._answer(current.plan, outcomes, given)

    async def plan(self) -> Plan:
        """Make the plan, without running it."""
        return await self._plan(await self._catalogue())

    async def preview(self) -> Preview:
        """What would be asked, without asking."""
        catalogue = await self._catalogue(ask=False)
        prompt: tuple[Message, ...] = ()
        rule = ""
        if self.goal.plan is None:  # a plan of tools alone needs no model, and so no brief
            brief = self._brief(catalogue, self.goal.answers)
            ruled = await asyncio.to_thread(brief.by_rule)
            rule, prompt = (ruled.rule, ()) if ruled is not None else ("", messages(brief, self.prompts))
        calls = expected_calls(self.goal.plan, rule, asks=self._detector_asks)
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
        take = partial(workspace.catalogue, self.goal, made_by=self.rules, offered=self.tool_set)
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

    async def _answered_plan(self, catalogue: Catalogue) -> Plan:
        """The plan; a question in its place is answered by a person, and planning continues with the answer."""
        answers = self.goal.answers
        for earlier in self.history.plans[:-1]:
            answers += (await self._answer_to(earlier.plan, answers),)
        plan = await self._plan(catalogue)
        while plan.clarification and not plan.tasks:
            answers += (await self._answer_to(plan, answers),)
            plan = self._warned(await self._decompose(catalogue, answers), catalogue)
        return plan

    async def _answer_to(self, plan: Plan, answers: tuple[str, ...]) -> str:
        """A question with its answer, as the planner reads it."""
        question = plan.clarification or ""
        return f"{question}\n{await self.memo.approvals.question(question, answers)}"

    async def _plan(self, catalogue: Catalogue) -> Plan:
        if self.history.plan is not None:
            return self.history.plan
        return self._warned(await self._new_plan(catalogue), catalogue)

    def _warned(self, plan: Plan, catalogue: Catalogue) -> Plan:
        """The plan, with a warning recorded for each skill whose needs are not met."""
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
        return await self._decompose(catalogue, self.goal.answers)

    async def _decompose(self, catalogue: Catalogue, answers: tuple[str, ...]) -> Plan:
        model, ready = self.models.for_role("decomposer"), partial(self.models.ready, "decomposer")
        return await decompose(self._brief(catalogue, answers), model, self.prompts, self.record, ready)

    def _brief(self, catalogue: Catalogue, answers: tuple[str, ...] = ()) -> Brief:
        return Brief(
            goal=self.goal.text,
            skills=catalogue.skill_listing,
            tools=catalogue.tool_listing,
            date=self.date,
            known=catalogue.known,
            names=tuple(one.name for one in catalogue.selections),
            profile=self.models.profile("decomposer"),
            files=tuple(str(path) for path in self.goal.files),
            answers=answers,
            rules=self.rules,
            asked=self.goal.skills,
            skill_for=partial(self.workspace.best_skill, skills=catalogue.skills),
        )

    async def _answer(self, plan: Plan, outcomes: Mapping[str, Outcome], given: GivenFiles | None) -> RunFinished:
        """The answer, with what it leaves out below it."""
        on_text = stream if self.goal.stream else None
        profile = self.models.profile("synthesis") if plan.needs_model else FULL  # a plan of tools has no model
        keeps_all = profile.whole_goal and plan.synthesis is None  # a plan can say what belongs in the answer
        synthesis = Synthesis(
            self.goal.text,
            plan,
            self.prompts,
            self.artifacts,
            on_text,
            profile.agent("synthesis"),
            self.record,
            profile.continuations,
            keeps_all=keeps_all,
            wanted=deliverables(plan, self.rules) if keeps_all else frozenset(),
            below=lambda task: self.memo.finished.files.below(task, plan, self.artifacts.folder),
        )
        # Outputs of another run may come from the files too.
        unread = given.not_read(self.memo.successful_calls()) if given and not self.memo.finished.given else []
        return await answered(synthesis, outcomes, self.models, unread)

    def _given_files(self) -> GivenFiles | None:
        """The files that came with the goal, for models that cannot read them; runs of earlier rules had none."""
        if self.rules < rules.GIVEN_FILES or not self.goal.files:
            return None
        paths, workspace = tuple(str(path) for path in self.goal.files), self.artifacts.workspace
        changed = self.file_changed or self._warn_of_change
        redact = self.memo.capture.secrets.redact
        return GivenFiles(paths, workspace, self.record, redact, self.history.files or self.files, changed)

    def _warn_of_change(self, _: FileRead, what: str) -> None:
        self.record(Warned(f"{what}: the task has what it said then"))


def today() -> str:
    """The date as prompts show it."""
    return f"{datetime.now().astimezone():%A, %Y-%m-%d}"
