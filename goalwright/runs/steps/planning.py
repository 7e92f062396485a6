"""The plan of a run: recorded, given with the goal, or made by a model, which may ask a person first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from goalwright.workspace.planned_selection import planned_skills
from goalwright.workspace.tool_choice import fitting_tools
from goalwright_executor.results.outcome import Done, Unneeded
from goalwright_planner.decompose import required
from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.decompose import decompose
from goalwright_planner.events import PlanMade, TextStreamed, Warned
from goalwright_planner.plan import unused_skills
from goalwright_planner.plan.task_id import parent_of
from goalwright_planner.prompting.profile import FULL
from goalwright_planner.reading.plan_answer import summary
from goalwright_skills.discovery.listing import descriptions_of
from goalwright_skills.discovery.needs import COMMANDS, WEB
from goalwright_skills.tools.listing import LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.run_context import RunContext
    from goalwright.workspace.workspace import Catalogue
    from goalwright_executor.results.outcome import Outcome
    from goalwright_planner.decompose.streaming import EarlyStart
    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan


# The settings that give tasks what skills need.
_SETTINGS = {WEB: "allow_web", COMMANDS: "tools: shell"}


@dataclass(frozen=True, slots=True)
class Planning:
    """Makes plans from the skills and tools of a catalogue, for a run or one of its sub-goals.

    With `only_plans`, the plan is not run, so there is no direct answer.
    """

    context: RunContext
    catalogue: Catalogue
    only_plans: bool = False

    async def answered_plan(self, early: EarlyStart | None = None) -> tuple[Plan, tuple[str, ...]]:
        """Return the plan and the answers that it was made with; a person answers questions of the planner."""
        given = answers = self.context.goal.answers
        for earlier in self.context.history.plans.made[:-1]:
            answers += (await self.answer_to(earlier.plan, answers),)
        plan = await self.plan(early if answers == given else None)
        while plan.clarification and not plan.tasks:
            answers += (await self.answer_to(plan, answers),)
            plan = await self.decompose(self.brief(answers))
            self.warn(plan)
        return plan, answers

    async def answer_to(self, plan: Plan, answers: tuple[str, ...], task: str | None = None) -> str:
        """Ask a person the question that the planner returned instead of tasks; returns question and answer as text."""
        question = plan.clarification or ""
        return f"{question}\n{await self.context.memo.approvals.question(question, answers, task)}"

    async def plan(self, early: EarlyStart | None = None) -> Plan:
        """Return the recorded plan or a new one; with `early`, tasks start while it is being written."""
        if (recorded := self.context.history.plan) is not None:
            self.warn_of_unused(recorded)  # a person may have edited it
            return recorded
        self._check_required()
        if self.context.goal.plan is not None:
            plan = self._given(self.context.goal.plan)
        else:
            fixed = self.context.recorded.fixed
            plan = await self.decompose(replace(self.brief(self.context.goal.answers), fixed=fixed), early)
        self.warn(plan)
        return plan

    def _check_required(self) -> None:
        """Raise before anything is spent if a required skill is missing."""
        for name in self.catalogue.goal.required:
            if name not in self.catalogue.known.skills:
                raise required.absence(name, self.context.workspace.skills.why_absent(name))

    def _given(self, plan: Plan) -> Plan:
        required.check(plan, self.catalogue.goal.required)
        plan, repairs = plan.without_grown(), self.context.goal.repairs  # tasks grow again, and equal ones are reused
        plan = self.context.memo.recorded(PlanMade(plan, 0, repairs)).plan
        if repairs:
            self.context.record(Warned(f"the plan was repaired: {summary(repairs)}"))
        return plan

    async def decompose(self, brief: Brief, early: EarlyStart | None = None) -> Plan:
        """Have a model or a rule make a plan."""
        models = self.context.models
        model, ready = models.for_role("decomposer"), partial(models.ready, "decomposer")
        on_answer = self._show_answer if self.context.goal.stream else None
        return await decompose(brief, model, self.context.prompts, self.context.memo.recorded, ready, early, on_answer)

    def _show_answer(self, text: str) -> None:
        """Show a direct answer as it is written."""
        self.context.record(TextStreamed("decomposer", None, text))

    @property
    def direct(self) -> bool:
        """Whether the model may answer directly: not if a skill must be used or the answer has a schema."""
        goal, where = self.context.goal, self.context.settings.direct_answers
        if self.only_plans or where == "never" or (where == "conversation" and goal.conversation is None):
            return False
        if goal.data is not None or goal.skills or self.certain or self.catalogue.goal.required:
            return False
        return self.context.models.profile("decomposer").shape is FULL.shape

    @property
    def known(self) -> Known:
        """The names that a plan may use, including results of earlier turns."""
        return replace(self.catalogue.known, earlier=self.context.earlier_ids)

    def brief(self, answers: tuple[str, ...] = ()) -> Brief:
        """Return the input of the decomposer."""
        context, catalogue = self.context, self.catalogue
        goal, follow_up = context.goal, context.follow_up
        return Brief(
            goal=goal.text,
            skills=catalogue.skill_listing,
            tools=catalogue.tool_listing,
            date=context.date,
            known=self.known,
            names=tuple(selection.name for selection in catalogue.selections),
            profile=context.models.profile("decomposer"),
            files=tuple(str(path) for path in goal.files),
            answers=answers,
            asked=goal.skills,
            schema=goal.data.document if goal.data else None,
            skill_for=partial(context.workspace.best_skill, skills=catalogue.skills),
            earlier=follow_up.for_planner() if follow_up is not None else "",
            certain=self.certain,
            required=catalogue.goal.required,
            direct=self.direct,
            images=context.memo.images.given.images,
            called=self._called,
        )

    @property
    def _called(self) -> tuple[str, ...]:
        """The tools besides the built-in ones that a small model may plan with: those that fit the goal."""
        most = self.context.models.profile("decomposer").tool_candidates
        if most is None:
            return ()
        builtin = self.context.workspace.builtin.in_plans(self.context.tool_set)
        about = descriptions_of(self.catalogue.tool_listing, LIMIT)
        own = {name: text for name, text in about.items() if name in self.catalogue.known.tools and name not in builtin}
        return fitting_tools(self.context.goal.text, own, most) if own else ()

    def warn(self, plan: Plan) -> None:
        """Record warnings about a new plan: skills whose needs are not met, and certain skills that it does not use."""
        self.warn_of_needs(plan)
        self.warn_of_unused(plan)

    def warn_of_needs(self, plan: Plan) -> None:
        """Record a warning for each skill of a plan whose needs are not met."""
        for warning in self.unmet_needs(plan):
            self.context.record(Warned(warning))

    def warn_of_unused(self, plan: Plan, before: Plan | None = None, task: str | None = None) -> None:
        """Record a warning for each skill that was selected with certainty and that the plan does not use.

        After a change, only skills that the plan `before` it used count. `task` is the sub-goal of the plan.
        """
        if not plan.tasks:
            return
        certain = [name for name in self.certain if before is None or unused_skills.used_in(before.tasks, name)]
        unknown = unused_skills.unknown_names(plan.unused, self.catalogue.known.skills) if before is None else ""
        warnings = [*unused_skills.warnings(plan.tasks, certain, plan.unused), *filter(None, [unknown])]
        recorded = self.context.history.ledger.warnings
        for text in (f"task {task!r}: {warning}" if task else warning for warning in warnings):
            if text not in recorded:
                self.context.record(Warned(text))

    def warn_of_unneeded(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> None:
        """Record a warning for each certain skill whose tasks all had nothing to do."""
        grown = {parent_of(task.id) for task in plan.tasks}
        for name in self.certain:
            own = [task.id for task in plan.reported if task.action_type == "skill" and task.name == name]
            empty = {task for task in own if plan.task(task).for_each is not None and task not in grown}
            idle = [
                isinstance(end := outcomes.get(task), Unneeded) or (task in empty and isinstance(end, Done))
                for task in own
            ]
            if own and all(idle):
                warning = (
                    f"the skill {name!r} was selected with certainty but not used: {', '.join(own)} had nothing to do"
                )
                if warning not in self.context.history.ledger.warnings:
                    self.context.record(Warned(warning))

    @property
    def certain(self) -> tuple[str, ...]:
        """The skills that a plan must use, or name in `unused` with a reason."""
        known = self.catalogue.known.skills
        selections = self.catalogue.selections
        return tuple(selected.name for selected in selections if selected.certain and selected.name in known)

    def unmet_needs(self, plan: Plan) -> list[str]:
        """Return a warning for each skill of a plan whose needs this run does not meet."""
        unmet = self.context.workspace.unmet(planned_skills(plan), self.catalogue.capabilities)
        return [
            f"the plan uses the skill {name!r}, which needs {' and '.join(missing)}, but tasks do not have it; "
            f"allow it ({', '.join(_SETTINGS[need] for need in missing)}), or provide the data as files"
            for name, missing in unmet.items()
        ]
