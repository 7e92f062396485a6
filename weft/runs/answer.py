"""How a run ends: the answer that is written from its results, with what is missing from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_executor.model_loop.form import UnfitAnswer
from weft_executor.model_loop.synthesis import NOTHING_NEEDED, missing_error, with_missing, with_not_read
from weft_executor.results.outcome import Done, Outcome
from weft_planner.errors import ModelError
from weft_planner.events import RunFinished
from weft_planner.plan.forms.output_schema import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_executor.model_loop.synthesis import Synthesis
    from weft_planner.events import RunStatus
    from weft_planner.prompting.models import Models

NO_RESULT = "TASK_FAILED"


async def answered(
    synthesis: Synthesis, outcomes: Mapping[str, Outcome], models: Models, not_read: Sequence[str] = ()
) -> RunFinished:
    """The end of a run; the results themselves if no model can write the answer. `not_read` says what of files."""
    missing = synthesis.missing(outcomes)
    error = missing_error(missing, len(synthesis.plan.tasks)) if missing else None
    if not any(isinstance(outcome, Done) for outcome in outcomes.values()):
        if not missing:
            return RunFinished("done", NOTHING_NEEDED)
        return RunFinished("failed", error=error, code=NO_RESULT)
    data = None
    try:
        if synthesis.form is not None:
            data = await synthesis.data(outcomes, lambda: models.for_role("synthesis"))
            answer = with_missing(canonical(data), missing)
        elif synthesis.plan.needs_synthesis:
            answer = await synthesis.answer(outcomes, models.for_role("synthesis"))
        else:
            answer = synthesis.without_model(outcomes)
    except (ModelError, UnfitAnswer) as failure:
        what = f"the answer could not be written: {failure}"
        what = f"{error}; {what}" if error else what
        answer = with_not_read(synthesis.without_model(outcomes), not_read)
        return RunFinished("partial", answer, what, code=failure.code)
    answer = with_not_read(answer, not_read)
    status: RunStatus = "partial" if missing else "done"
    return RunFinished(status, answer, error, code=NO_RESULT if missing else None, data=data)
