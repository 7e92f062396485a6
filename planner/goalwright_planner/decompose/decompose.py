"""From a goal to a plan: ask the model, judge its answer, ask again with all faults, at most three times."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_planner.decompose import required
from goalwright_planner.decompose.judging import PlanJudge, Refusal
from goalwright_planner.decompose.prompt import again, messages, variables_of
from goalwright_planner.decompose.streaming import listener
from goalwright_planner.errors import PlanError
from goalwright_planner.events import PlanMade, PlanRefused, PromptMade, Warned
from goalwright_planner.model import Request
from goalwright_planner.reading.plan_answer import summary

if TYPE_CHECKING:
    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.decompose.streaming import EarlyStart
    from goalwright_planner.events.event import Recorder
    from goalwright_planner.model import Model, OnText
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.prompting.prompts import Prompts

Ready = Callable[[], Awaitable[None]]


async def decompose(
    brief: Brief,
    model: Model,
    prompts: Prompts,
    record: Recorder,
    ready: Ready | None = None,
    early: EarlyStart | None = None,
    on_answer: OnText | None = None,
) -> Plan:
    """Return a valid plan for the goal, or a plan that only asks a question; raise PlanError if there is none.

    `ready` is awaited before a model is asked. `early` starts tasks while the first answer is being written, and
    `on_answer` receives the text of a direct answer. The plan of a run is recorded here; the plan of a sub-goal is
    recorded when it joins the run's plan. In a replay, `record` returns the verdicts of the original run.
    """
    ruled = await asyncio.to_thread(brief.by_rule)
    if ruled is not None:
        return ruled.plan if brief.task is not None else record(PlanMade(ruled.plan, 0, rule=ruled.rule)).plan
    if ready is not None:
        await ready()
    record(PromptMade("decomposer", brief.task, variables_of(brief)))
    request, judge = _first_request(brief, prompts), PlanJudge(brief, early)
    begun: tuple[str, ...] = ()
    for attempt in range(1, brief.attempts + 1):
        tasks = early.hear if early is not None and attempt == 1 else None
        on_text = listener(tasks, on_answer if brief.direct else None)
        reply = await model.complete(replace(request, on_text=on_text))
        verdict = await judge.verdict(reply, attempt)
        if early is not None and isinstance(verdict, PlanMade):
            await early.settle(verdict.plan)
        event = PlanRefused(attempt, verdict.faults, task=brief.task) if isinstance(verdict, Refusal) else verdict
        if brief.task is None or isinstance(event, PlanRefused):
            event = record(event)
        if isinstance(event, PlanMade):
            if event.repairs:
                record(Warned(f"the plan was repaired: {summary(event.repairs)}"))
            return event.plan
        faults = event.faults
        if early is not None and attempt == 1:
            begun = early.could_begin(reply.text)
        variables = {"faults": list(faults)} | ({"fixed": begun} if begun else {})
        correction = prompts.render(brief.profile.agent("decomposer"), "again", variables)
        request = replace(request, messages=(*request.messages, *again(reply, correction)))
    raise _no_plan(brief, model, faults, verdict)


def _first_request(brief: Brief, prompts: Prompts) -> Request:
    conversation = messages(brief, prompts)
    fixed = [task.id for task in brief.fixed]
    return Request(
        conversation,
        schema=brief.profile.shape.schema(brief.asked_plan),
        role="decomposer",
        task=brief.task,
        about=[brief.goal, brief.answers, [dict(result) for result in brief.results], brief.files, fixed],
        fixed=len(conversation) - 1,  # all but the goal
    )


def _no_plan(brief: Brief, model: Model, faults: tuple[str, ...], verdict: PlanMade | Refusal) -> PlanError:
    """Return the error for a goal whose last answer was refused with these faults."""
    if isinstance(verdict, Refusal) and verdict.only_required:
        return required.refusal(verdict.unused, f"the last of {brief.attempts} plans of {model.name}")
    return PlanError(
        f"the model {model.name} gave no valid plan in {brief.attempts} attempts; "
        f"the last one's faults: {'; '.join(faults)}",
        faults=faults,
        hint="choose a stronger model, state the goal more plainly, or write the plan yourself",
    )
