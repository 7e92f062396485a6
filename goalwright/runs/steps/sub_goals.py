"""Plans sub-goals: a task whose action is a goal becomes tasks of the run's plan when it is ready.

Skills are selected for its instruction, a model plans it, and its tasks join as `research/sources`. Their synthesis is
its output. The request depends on recorded data only, so resume and replay get the same plan.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from goalwright.models.budget import ASSUMED_PRICE
from goalwright.runs.goal import Goal
from goalwright.runs.steps.planning import Planning
from goalwright.runs.steps.selecting import Selecting
from goalwright_executor.model_loop.form import Form
from goalwright_executor.model_loop.synthesis import NOTHING_NEEDED, Synthesis
from goalwright_executor.results.inputs import fill, given_to, item_texts, previous_round, results_for, shorten
from goalwright_executor.results.outcome import Done, Grown, Outcome
from goalwright_executor.results.task_results import done_among
from goalwright_planner.plan.change import joining
from goalwright_planner.plan.output_schema import canonical
from goalwright_planner.plan.references import REFERENCE
from goalwright_planner.plan.task_id import depth_of, with_parents
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.run_context import RunContext
    from goalwright.workspace.workspace import Catalogue
    from goalwright_executor.scheduling.expand import FanOut
    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


@dataclass(frozen=True, slots=True)
class SubGoals:
    """Plans the sub-goals of one run, whose skills and tools are in `catalogue`."""

    context: RunContext
    parts: FanOut
    catalogue: Catalogue

    async def grow(self, task: Task, results: Mapping[str, str]) -> Grown:
        """Plan a sub-goal; raises if there is no valid plan, or a limit would be exceeded."""
        self._limit_cost(task)
        context = self.context
        texts, item = given_to(task, results), item_texts(task)
        texts = shorten(texts, context.settings.input_budget, context.artifacts)
        goal = fill(task.instruction, texts, item)
        shown = [asdict(result) for result in results_for(task, self.parts.current.plan, texts)]
        planning = Planning(context, await self._selected(task, item))
        asked = goal
        if task.previous is not None:
            previous = previous_round(task.previous, context.prompts, context.settings.input_budget, context.artifacts)
            asked = f"{goal}\n\n{previous}"
        planned = await self._planned(planning, self._brief(task, asked, shown, planning))
        plan = joining(task, planned, done_among(task.depends_on, results))
        plan = plan.with_tasks(self.parts.join(task, plan.tasks, "goal"))
        return Grown(plan.tasks, partial(self._result, task, goal, plan))

    async def _selected(self, task: Task, item: Mapping[str, str] | None) -> Catalogue:
        """Select skills for a sub-goal by its own words, without the results that it refers to."""
        words = fill(REFERENCE.sub(" ", task.instruction), {}, item).strip()
        context = replace(self.context, goal=Goal(words or self.context.goal.text))
        mcp = replace(self.catalogue.goal.mcp, warnings=())
        return await Selecting(context, task.id, mcp, self.catalogue.named).catalogue()

    def _brief(self, task: Task, goal: str, shown: list[dict[str, str]], planning: Planning) -> Brief:
        known = planning.catalogue.known
        known = replace(
            known,
            max_tasks=min(task.most_tasks or known.max_tasks, known.max_tasks),
            max_depth=known.max_depth - depth_of(task.id) - 1,
        )
        profile = self.context.models.profile("decomposer", task.id)
        brief = planning.brief()
        brief = replace(brief, goal=goal, known=known, profile=profile, asked=(), task=task.id, results=shown)
        return replace(brief, schema=task.output_schema, earlier="" if task.depends_on else brief.earlier, direct=False)

    async def _planned(self, planning: Planning, brief: Brief) -> Plan:
        """Have a model plan a sub-goal; a person answers its questions."""
        while not (plan := await planning.decompose(brief)).tasks:
            answer = await planning.answer_to(plan, brief.answers, brief.task)
            brief = replace(brief, answers=(*brief.answers, answer))
        planning.warn_of_unused(plan, task=brief.task)
        return plan

    async def _result(self, task: Task, goal: str, plan: Plan, outcomes: Mapping[str, Outcome]) -> str:
        """Write the output of a sub-goal from its tasks' results; raises if there are none."""
        context, models = self.context, self.context.models
        profile = models.profile("synthesis", task.id)
        made_of = (goal, plan, context.prompts, context.artifacts, context.memo)
        synthesis = Synthesis(*made_of, None, profile.agent("synthesis"), profile.continuations, task=task.id)
        missing = synthesis.missing(outcomes)
        if not any(isinstance(outcomes.get(part.id), Done) for part in plan.tasks):
            if not missing:
                return NOTHING_NEEDED
            raise GoalwrightError(f"none of its {counted(len(plan.tasks), 'task')} has a result; {missing[0]}")
        if task.output_schema is None:
            return await synthesis.answer(outcomes, models.for_role("synthesis"))
        form = Form(task.output_schema, context.prompts)
        model = partial(models.for_role, "synthesis")
        return canonical(await replace(synthesis, form=form).data(outcomes, model))

    def _limit_cost(self, task: Task) -> None:
        """Limit the cost of a sub-goal and all tasks inside it to its `max_cost`."""
        budget = self.context.budget
        if budget is None or task.max_cost is None:
            return
        inside = [paid for name, paid in self.context.history.calls.paid.items() if _is_inside(name, task.id)]
        budget.share(task.id, task.max_cost, sum(cost + tokens * ASSUMED_PRICE for cost, tokens in inside))


def _is_inside(name: str, goal: str) -> bool:
    return goal in with_parents(name)
