"""The options of a recipe, and trust in its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.runs.goal import Goal
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
    from goalwright.runs.runtime import Goalwright


def pairs(texts: Sequence[str], example: str = "team=sales") -> dict[str, str]:
    """Parse texts of the form NAME=VALUE; raises with all that have another form."""
    wrong = [text for text in texts if "=" not in text or not text.partition("=")[0].strip()]
    if wrong:
        raise InputError(f"{', '.join(wrong)}: give NAME=VALUE", hint=f"such as {example}")
    split = [text.partition("=") for text in texts]
    return {name.strip(): value for name, _, value in split}


def trust_all(recipes: WorkspaceRecipes) -> None:
    """Trust the recipes of a workspace in their current form."""
    for file in recipes.untrusted():
        recipes.trust(file)


def ask_to_trust(recipes: WorkspaceRecipes, name: str, mode: OutputMode) -> None:
    """Ask at the terminal whether to trust a recipe whose plan calls tools, unless it is trusted."""
    if mode.quiet or not terminal.can_ask():
        return
    for file in recipes.untrusted():
        if file.name == name:
            output.say(
                f"The plan of the recipe {name!r} calls tools by itself, and you have not trusted it:\n  {file.path}"
            )
            if click.confirm("Have you read it, and may it be used?", default=False, err=True):
                recipes.trust(file)


def named(goalwright: Goalwright, name: str, texts: Sequence[str], goal: Goal, mode: OutputMode) -> Goal:
    """Return the goal of the recipe that --recipe names, with the values of the command line."""
    values = pairs(texts)
    ask_to_trust(goalwright.recipes, name, mode)
    return goalwright.recipes.by_name(name, values, goal)
