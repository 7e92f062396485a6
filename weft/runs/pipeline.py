"""The steps of a run: select skills → plan → run the tasks → synthesise → answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from weft.runs.answer import answered
from weft.runs.preview import Preview, expected_calls
from weft.runs.steps.following import FollowUp
from weft.runs.steps.replanning import as_before, not_changed, replanning_of
from weft.runs.steps.reviewing import DECLINED, reviewed
from weft.runs.steps.selecting import Selecting, language_note
from weft.runs.task_run import early_tasks, run_tasks
from weft.workspace.planned_selection import planned_skills
from weft_executor.files.given import GivenFiles
from weft_executor.history.run_history import RunHistory
from weft_executor.model_loop.data import DataForm
from weft_executor.model_loop.synthesis import Synthesis
from weft_executor.results.outcome import Cancelled, Outcome, Waiting
from weft_executor.scheduling.expand import CurrentPlan, GrowthLimits
from weft_planner.decompose.decompose import Brief, decompose, messages
from weft_planner.errors import AnswerNeeded, RecordEnded
from weft_planner.events import PlanMade, RunFinished, Warned
from weft_planner.goal.deliverables import deliverables
from weft_planner.model import as_events, estimated_tokens
from weft_planner.plan import reading
from weft_planner.plan.plan import Plan
from weft_planner.prompting.profile import FULL
from weft_skills.discovery.needs import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft.models.budget import Budget
    from weft.runs.goal import Goal
    from weft.runs.steps.reviewing import Review
    from weft.runs.steps.streaming import EarlyTasks
    from weft.settings.settings import Settings
    from weft.workspace.mcp_choice import McpChoice
    from weft.workspace.workspace import Catalogue, Workspace
    from weft_executor.history.replans import Replans
    from weft_executor.results.artifacts import Artifacts
    from weft_executor.results.kept_results import KeptResults
    from weft_executor.results.memo import Memo
    from weft_planner.events import FileRead, Record
    from weft_planner.model import Message
    from weft_planner.plan.plan import Task
    from weft_planner.prompting.models import Models
    from weft_planner.prompting.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The way from a goal to its answer, with everything that one run needs.

    Of a resumed run, `history` has the steps that are on record; they are not taken again. Of a replayed run, `files`
    are what its tasks read; `file_changed` hears of files that differ today,
    `growth` gives the limits that it had, `changes` are how its plan changed, `mcp` the tools of MCP servers that it
    was offered, `fixed` the tasks that its planner must keep. A new plan is shown to `review` first. `kept` finds
    results of other runs, if they may be used again; `offered` are the built-in tools that a run on record began with.
    """

    goal: Goal
    workspace: Workspace
    settings: Settings
    models: Models
    memo: Memo
    artifacts: Artifacts
    date: str
    history: RunHistory = field(default_factory=RunHistory)
    files: Mapping[tuple[str, str], FileRead] = field(default_factory=dict)
    file_changed: Callable[[FileRead, str], None] | None = None
    growth: Callable[[GrowthLimits], GrowthLimits] | None = None
    kept: KeptResults | None = None
    changes: Replans | None = None
    budget: Budget | None = None
    review: Review | None = None
    offered: tuple[str, ...] | None = None
    mcp: McpChoice | None = None
    fixed: tuple[Task, ...] = ()

    @property
    def tool_set(self) -> tuple[str, ...]:
        """The built-in tools that tasks are offered."""
        return self.settings.tool_set if self.offered is None else self.offered

    @property
    def prompts(self) -> Prompts:
        """The prompts of the workspace."""
        return self.workspace.prompts()

    @property
    def follow_up(self) -> FollowUp | None:
        """What is said in prompts of the run that this one follows up."""
        earlier = self.goal.after
        return FollowUp(earlier, self.prompts, self.memo.capture) if earlier is not None else None

    @property
    def record(self) -> Record:
        """Takes the run's events."""
        return self.memo.record

    async def run(self) -> RunFinished:
        """Run the goal; returns how it ended."""
        self.prompts.check()  # before anything is spent
        catalogue = await self._selecting.catalogue()
        given, current = self._given_files(), CurrentPlan(Plan(()), self.memo.recorded)
        replanning = replanning_of(self, current, catalogue, self.goal.answers)
        early = early_tasks(self, replanning, catalogue, given)
        try:
            plan, answers = await self._answered_plan(catalogue, early if self._streams else None)
        except AnswerNeeded as needed:
            await early.stop()
            return RunFinished("waiting", question=needed.request.preview)
        except BaseException:
            await early.stop()
            raise
        current.plan = early.kept_in(plan)
        replanning.brief = partial(self.brief, catalogue, answers)
        if self.review is not None and not await self._reviewed(self.review, current, catalogue):
            return DECLINED
        unchanged = await replanning.begin()
        if unchanged is not None and not replanning.repeats:
            if (end := as_before(unchanged, self)) is not None:
                return end
            unchanged = None
        outcomes = await run_tasks(self, replanning, early)
        if any(isinstance(outcome, Cancelled) for outcome in outcomes.values()):
            raise RecordEnded("the record of this run ends before its end")
        if any(isinstance(outcome, Waiting) for outcome in outcomes.values()):
            end = RunFinished("waiting")
            return end if unchanged is None else not_changed(unchanged, end)
        end = await self._answer(current.plan, outcomes, given)
        return end if unchanged is None else not_changed(unchanged, end)

    async def _reviewed(self, review: Review, current: CurrentPlan, catalogue: Catalogue) -> bool:
        """Whether the plan is to run, perhaps as a person edited it."""
        added = await reviewed(review, current, catalogue.known)
        self._warned(replace(current.plan, tasks=added or ()), catalogue)
        return added is not None

    async def plan(self) -> Plan:
        """Make the plan, without running it."""
        return await self._plan(await self._selecting.catalogue())

    async def preview(self) -> Preview:
        """What would be asked, without asking."""
        selecting = self._selecting
        catalogue = await selecting.catalogue(ask=False)
        prompt: tuple[Message, ...] = ()
        rule = ""
        if self.goal.plan is None:  # a plan of tools alone needs no model, and so no brief
            brief = self.brief(catalogue, self.goal.answers)
            ruled = await asyncio.to_thread(brief.by_rule)
            rule, prompt = (ruled.rule, ()) if ruled is not None else ("", messages(brief, self.prompts))
        foreign = selecting.translated(catalogue)
        keywords = foreign.skills if foreign is not None else ""
        form = self.goal.data is not None
        calls = expected_calls(self.goal.plan, rule, asks=selecting.asks, form=form, keywords=keywords)
        unmet = self.unmet_needs(self.goal.plan, catalogue) if self.goal.plan is not None else ()
        warnings = (*unmet, *filter(None, [language_note(catalogue) if not keywords else ""]))
        return Preview(catalogue.selections, prompt, estimated_tokens(prompt), calls, warnings)

    @property
    def _selecting(self) -> Selecting:
        given = (self.goal, self.workspace, self.settings, self.models, self.memo.recorded, self.history)
        return Selecting(*given, offered=self.tool_set, mcp=self.mcp)

    @property
    def _streams(self) -> bool:
        """Whether tasks may start while the plan is being written; small models write plans that others complete."""
        if not self.settings.stream_plan or self.goal.plan or self.review:
            return False
        profile = self.models.profile("decomposer")
        return profile.shape is FULL.shape and not profile.whole_goal

    async def _answered_plan(
        self, catalogue: Catalogue, early: EarlyTasks | None = None
    ) -> tuple[Plan, tuple[str, ...]]:
        """The plan, and the answers that it was made with: a question in its place is answered by a person."""
        answers = self.goal.answers
        for earlier in self.history.plans[:-1]:
            answers += (await self._answer_to(earlier.plan, answers),)
        plan = await self._plan(catalogue, early if answers == self.goal.answers else None)
        while plan.clarification and not plan.tasks:
            answers += (await self._answer_to(plan, answers),)
            plan = self._warned(await self._decompose(catalogue, answers), catalogue)
        return plan, answers

    async def _answer_to(self, plan: Plan, answers: tuple[str, ...]) -> str:
        """A question with its answer, as the planner reads it."""
        question = plan.clarification or ""
        return f"{question}\n{await self.memo.approvals.question(question, answers)}"

    async def _plan(self, catalogue: Catalogue, early: EarlyTasks | None = None) -> Plan:
        if self.history.plan is not None:
            return self.history.plan
        return self._warned(await self._new_plan(catalogue, early), catalogue)

    def _warned(self, plan: Plan, catalogue: Catalogue) -> Plan:
        """The plan, with a warning recorded for each skill whose needs are not met."""
        for warning in self.unmet_needs(plan, catalogue):
            self.record(Warned(warning))
        return plan

    def unmet_needs(self, plan: Plan, catalogue: Catalogue) -> list[str]:
        """A warning for each skill of a plan that needs what this run does not have."""
        return [
            f"the plan uses the skill {name!r}, which needs {' and '.join(missing)}: tasks here do not have it, "
            "so the skill works only with what the goal, its files and other tasks give it; a run has it with "
            f"{' '.join(SWITCHES[one] for one in missing)}"
            for name, missing in self.workspace.unmet(planned_skills(plan), catalogue.able).items()
        ]

    async def _new_plan(self, catalogue: Catalogue, early: EarlyTasks | None) -> Plan:
        if self.goal.plan is not None:
            plan = self.goal.plan.without_grown()  # they grow again, and equal ones are reused
            plan = self.memo.recorded(PlanMade(plan, 0, self.goal.repairs)).plan
            if self.goal.repairs:
                self.record(Warned(f"the plan was repaired: {reading.told(self.goal.repairs)}"))
            return plan
        return await self._decompose(catalogue, self.goal.answers, early)

    async def _decompose(self, catalogue: Catalogue, answers: tuple[str, ...], early: EarlyTasks | None = None) -> Plan:
        model, ready = self.models.for_role("decomposer"), partial(self.models.ready, "decomposer")
        brief = replace(self.brief(catalogue, answers), fixed=self.fixed if early is not None else ())
        return await decompose(brief, model, self.prompts, self.memo.recorded, ready, early)

    def brief(self, catalogue: Catalogue, answers: tuple[str, ...] = ()) -> Brief:
        """What the decomposer is given."""
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
            asked=self.goal.skills,
            schema=self.goal.data.document if self.goal.data else None,
            skill_for=partial(self.workspace.best_skill, skills=catalogue.skills),
            earlier=follow_up.for_planner() if (follow_up := self.follow_up) is not None else "",
        )

    async def _answer(self, plan: Plan, outcomes: Mapping[str, Outcome], given: GivenFiles | None) -> RunFinished:
        """The answer, with what it leaves out below it."""
        on_text = as_events if self.goal.stream else None
        wanted = self.goal.data
        # A plan of tools has no model.
        profile = self.models.profile("synthesis") if plan.needs_model or wanted else FULL
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
            wanted=deliverables(plan) if keeps_all else frozenset(),
            below=lambda task: self.memo.finished.files.below(task, plan, self.artifacts.folder),
            form=DataForm.of(wanted, self.prompts, self.memo) if wanted else None,
        )
        # Outputs of another run may come from the files too.
        unread = given.not_read(self.memo.successful_calls()) if given and not self.memo.finished.reused else []
        return await answered(synthesis, outcomes, self.models, unread)

    def _given_files(self) -> GivenFiles | None:
        """The files that came with the goal, for models that cannot read them."""
        if not self.goal.files:
            return None
        paths, workspace = tuple(str(path) for path in self.goal.files), self.artifacts.workspace
        changed = self.file_changed or self._warn_of_change
        redact = self.memo.capture.secrets.redact
        return GivenFiles(paths, workspace, self.record, redact, self.history.files or self.files, changed)

    def _warn_of_change(self, _: FileRead, what: str) -> None:
        self.record(Warned(f"{what}: the task has what it said then"))
