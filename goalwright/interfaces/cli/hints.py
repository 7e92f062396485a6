"""The hints that the terminal prints below an error, with the flags and commands that help there.

An error names no flag of its own: its class carries values, and `hint_for` words them for a person at a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_skills.errors import GoalwrightError


def hint_for(error: GoalwrightError) -> str:
    """Return what to do next about an error; by default the error's own hint."""
    from goalwright.runs.recipes.recipe import RecipeExists
    from goalwright_executor.stores.errors import BadStore, NoJournal, StoreFailed
    from goalwright_planner.errors import (
        BudgetSpent,
        ContentRefused,
        KeyRefused,
        PlanError,
        RequestRefused,
        UnknownModel,
        UnknownPrice,
    )

    match error:
        case BudgetSpent(limit="max_cost" | "max_tokens" as limit):
            return error.hint.replace(limit, f"--{limit.replace('_', '-')}")
        case UnknownPrice(models=[_, *_]):
            return error.hint.replace("set allow_unknown_cost", "pass --allow-unknown-cost")
        case KeyRefused() | UnknownModel() | RequestRefused() | ContentRefused():
            return error.hint.replace("another model", "another model with --model")
        case PlanError() if error.hint:
            return "try a stronger model with --model, state the goal more plainly, or write a plan and use --plan"
        case RecipeExists():
            return "choose another name, or pass --replace"
        case NoJournal():
            return "nothing has been run here; use --workspace or --journal to name another"
        case BadStore(journal=journal) | StoreFailed(journal=journal) if journal:
            return f"{error.hint} with --journal URL"
        case _:
            return error.hint
