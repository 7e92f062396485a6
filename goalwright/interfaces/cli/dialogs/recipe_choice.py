"""Which recipe a goal of the command line is run with: named with --recipe, offered at the terminal, or used as set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.dialogs import confirm
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.runs.goal import Goal
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
    from goalwright.runs.runtime import Goalwright


def pairs(texts: Sequence[str], example: str = "team=sales") -> dict[str, str]:
    """The values in texts of the form NAME=VALUE; raises with all that have another."""
    wrong = [text for text in texts if "=" not in text or not text.partition("=")[0].strip()]
    if wrong:
        raise InputError(f"{', '.join(wrong)}: give NAME=VALUE", hint=f"such as {example}")
    split = [text.partition("=") for text in texts]
    return {name.strip(): value for name, _, value in split}


def trust_all(recipes: WorkspaceRecipes) -> None:
    """Trust the recipes of a workspace as they are now."""
    for file in recipes.untrusted():
        recipes.trust(file)


def ask_to_trust(recipes: WorkspaceRecipes, name: str, mode: OutputMode) -> None:
    """Ask a person at the terminal about a recipe whose plan calls tools, if they have not trusted it."""
    if mode.quiet or not confirm.can_ask():
        return
    for file in recipes.untrusted():
        if file.name == name:
            output.say(
                f"The plan of the recipe {name!r} calls tools by itself, and you have not trusted it:\n  {file.path}"
            )
            if click.confirm("Have you read it, and may it be used?", default=False, err=True):
                recipes.trust(file)


def named(goalwright: Goalwright, name: str, texts: Sequence[str], goal: Goal, mode: OutputMode) -> Goal:
    """The goal of the recipe that --recipe names, with the values of the command line."""
    values = pairs(texts)
    ask_to_trust(goalwright.recipes, name, mode)
    return goalwright.recipes.by_name(name, values, goal)


def offered(goalwright: Goalwright, goal: Goal, mode: OutputMode) -> Goal:
    """The goal with the plan of a recipe that it is like, if the settings or a person at the terminal say so."""
    if goalwright.settings.recipes == "off" or goal.plan is not None:
        return goal
    if goalwright.settings.recipes == "auto":
        return goalwright.with_recipe(goal)
    if mode.as_json or mode.quiet or not confirm.can_ask():
        return goal
    match = goalwright.recipes.matched(goal)
    if match is None:
        return goal
    values = "".join(f"\n  {name} = {value}" for name, value in match.values.items())
    output.say(f"This goal is like the recipe {match.recipe.name!r}: {match.recipe.goal}{values}\n  ({match.reason})")
    if not click.confirm("Use its plan, without planning?", default=True, err=True):
        return goal
    ask_to_trust(goalwright.recipes, match.recipe.name, mode)
    return goalwright.recipes.used(goal, match, "offer")
