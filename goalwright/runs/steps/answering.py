"""Ends a run: writes the answer from its results, and names the missing ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_executor.model_loop.form import DataForm, UnfitAnswer
from goalwright_executor.model_loop.synthesis import (
    NOTHING_NEEDED,
    Synthesis,
    missing_error,
    with_missing,
    with_not_read,
)
from goalwright_executor.results.outcome import Done, Failed, Outcome
from goalwright_planner.errors import ModelError
from goalwright_planner.events import RunFinished, Warned
from goalwright_planner.model import as_events
from goalwright_planner.plan.output_schema import canonical
from goalwright_planner.prompting.profile import FULL
from goalwright_planner.small_models.references import deliverables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.run_context import RunContext
    from goalwright_executor.files.given import GivenFiles
    from goalwright_planner.events import RunStatus
    from goalwright_planner.plan.plan import Plan

NO_RESULT = "TASK_FAILED"


async def answer(
    context: RunContext,
    plan: Plan,
    outcomes: Mapping[str, Outcome],
    files: GivenFiles | None,
    earlier: Mapping[str, Done],
) -> RunFinished:
    """Write the answer, with the missing results below it; without a model, the answer is the results themselves.

    `earlier` are results of earlier turns that the plan's `synthesis` refers to.
    """
    synthesis = replace(_synthesis(context, plan), earlier=earlier)
    missing = synthesis.missing(outcomes)
    _warn_of_handled(context, synthesis, outcomes)
    error = missing_error(missing, len(plan.reported)) if missing else None
    if not any(isinstance(outcome, Done) for outcome in outcomes.values()):
        if not missing:
            return RunFinished("done", NOTHING_NEEDED)
        return RunFinished("failed", error=error, code=NO_RESULT)
    # Reused outputs of another run may have used the files.
    not_read = (
        files.not_read(context.memo.successful_calls(), context.memo.images)
        if files and not context.memo.finished.reused
        else []
    )
    data = None
    try:
        if synthesis.form is not None:
            data = await synthesis.data(outcomes, lambda: context.models.for_role("synthesis"))
            text = with_missing(canonical(data), missing)
        elif plan.needs_synthesis:
            text = await synthesis.answer(outcomes, context.models.for_role("synthesis"))
        else:
            text = synthesis.without_model(outcomes)
    except (ModelError, UnfitAnswer) as failure:
        fault = f"the answer could not be written: {failure}"
        fault = f"{error}; {fault}" if error else fault
        text = with_not_read(synthesis.without_model(outcomes), not_read)
        return RunFinished("partial", text, fault, code=failure.code)
    status: RunStatus = "partial" if missing else "done"
    text = with_not_read(text, not_read)
    return RunFinished(status, text, error, code=NO_RESULT if missing else None, data=data)


def _warn_of_handled(context: RunContext, synthesis: Synthesis, outcomes: Mapping[str, Outcome]) -> None:
    """Warn of each failure that another task has handled, which does not make the run partial."""
    for name, by in synthesis.handled(outcomes).items():
        if isinstance(failed := outcomes.get(name), Failed):
            context.record(Warned(f"task {name!r} failed, and task {by!r} handled that: {failed.error}"))


def _synthesis(context: RunContext, plan: Plan) -> Synthesis:
    schema = context.goal.data
    # A plan of tools needs no model.
    profile = context.models.profile("synthesis") if plan.needs_model or schema else FULL
    keeps_all = profile.whole_goal and plan.synthesis is None  # a plan can define the answer
    return Synthesis(
        context.goal.text,
        plan,
        context.prompts,
        context.artifacts,
        context.memo,
        as_events if context.goal.stream else None,
        profile.agent("synthesis"),
        profile.continuations,
        keeps_all=keeps_all,
        wanted=deliverables(plan) if keeps_all else frozenset(),
        below=lambda task: context.memo.finished.files.below(task, plan, context.artifacts.folder),
        form=DataForm.of(schema, context.prompts, context.memo) if schema else None,
    )
