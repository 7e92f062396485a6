"""The order of a run's steps: select skills → plan → review → run the tasks → answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.conversations.summaries import sum_up
from goalwright.runs.plans.plan_edit import PlanInHand, edit
from goalwright.runs.steps.answering import answer
from goalwright.runs.steps.given_files import give_images
from goalwright.runs.steps.planning import Planning
from goalwright.runs.steps.replanning import Replanning, as_before, not_changed
from goalwright.runs.steps.running import RunningTasks
from goalwright.runs.steps.selecting import Selecting
from goalwright.runs.steps.streaming import may_stream
from goalwright_executor.results.outcome import Cancelled, Waiting
from goalwright_executor.scheduling.expand import CurrentPlan
from goalwright_planner.errors import AnswerNeeded, RecordEnded
from goalwright_planner.events import RunFinished
from goalwright_planner.plan.plan import Plan

if TYPE_CHECKING:
    from goalwright.runs.callbacks import Review
    from goalwright.runs.run_context import RunContext

_DECLINED = RunFinished("interrupted", error="the plan was not run: it was declined in review", code="DECLINED")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Runs the steps from a goal to its answer; `review` receives a plan of which no task has begun."""

    context: RunContext
    review: Review | None = None

    async def plan(self) -> Plan:
        """Make the plan without running it."""
        await give_images(self.context)
        return await Planning(self.context, await Selecting(self.context).catalogue(), only_plans=True).plan()

    async def run(self) -> RunFinished:
        """Run the goal; returns how it ended."""
        context = self.context
        context.prompts.check_overrides()  # before anything is spent
        await sum_up(context)
        await give_images(context)
        catalogue = await Selecting(context).catalogue()
        planning = Planning(context, catalogue)
        replanning = Replanning.of(planning, CurrentPlan(Plan(()), context.memo.recorded))
        running = RunningTasks(context, catalogue, replanning)
        try:
            streams = self.review is None and may_stream(context)
            plan, replanning.answers = await planning.answered_plan(running.stream() if streams else None)
        except BaseException as error:
            await running.stop()
            if isinstance(error, AnswerNeeded):
                return RunFinished("waiting", question=error.request.preview)
            raise
        if plan.answer is not None:
            await running.stop()  # tasks of a refused plan may have begun
            return RunFinished("done", plan.answer)
        current = replanning.current
        current.plan = running.begun_in(plan)
        shown = self.review if not context.history.plans.has_begun else None
        if shown is not None and not await _reviewed(shown, current, planning):
            return _DECLINED
        return await self._run_tasks(planning, running, replanning)

    async def _run_tasks(self, planning: Planning, running: RunningTasks, replanning: Replanning) -> RunFinished:
        """Run the tasks and answer, or return why the plan was not changed as a person asked."""
        unchanged = await replanning.begin()
        if unchanged is not None and not replanning.repeats:
            if (end := as_before(unchanged, self.context)) is not None:
                return end
            unchanged = None
        outcomes = await running.run()
        if any(isinstance(outcome, Cancelled) for outcome in outcomes.values()):
            raise RecordEnded("the record of this run is incomplete")
        if any(isinstance(outcome, Waiting) for outcome in outcomes.values()):
            end = RunFinished("waiting")
        else:
            plan = replanning.current.plan
            planning.warn_of_unneeded(plan, outcomes)
            earlier = running.earlier_results(plan.synthesis)
            end = await answer(self.context, plan, outcomes, running.files, earlier)
        return end if unchanged is None else not_changed(unchanged, end)


async def _reviewed(review: Review, current: CurrentPlan, planning: Planning) -> bool:
    """Have a person review the plan and make their edit; returns whether the plan is to run."""
    plan = current.plan
    edited = await review(plan)
    if edited is None:
        return False
    ends, required = planning.context.history.replans.tasks, planning.catalogue.goal.required
    change = edit(PlanInHand(plan, ends, plan), edited, planning.known, "as reviewed", required)
    if change is not None:
        current.change(change)
        planning.warn_of_needs(current.plan.with_tasks(change.added))
        planning.warn_of_unused(current.plan, before=plan)
    return True
