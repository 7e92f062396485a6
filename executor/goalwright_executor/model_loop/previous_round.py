"""What a task that is done again is told of the round before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.results.inputs import beginning

if TYPE_CHECKING:
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_planner.plan.task import PreviousRound
    from goalwright_planner.prompting.prompts import Prompts


def previous_round(previous: PreviousRound, prompts: Prompts, budget: int, artifacts: Artifacts) -> str:
    """The text that shows a result as the previous attempt; of a long one, the beginning."""
    result, left = beginning(previous.result, budget, artifacts)
    variables = {"until": previous.until, "why": previous.why, "result": result, "left": left}
    return prompts.render("round", "user", variables)
