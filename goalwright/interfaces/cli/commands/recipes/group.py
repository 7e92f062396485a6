"""`goalwright recipes`: plans that are kept and used again."""

from __future__ import annotations

import click

from goalwright.interfaces.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "save": ("goalwright.interfaces.cli.commands.recipes.save:save", "Keep the plan of a run as a recipe."),
    "list": (
        "goalwright.interfaces.cli.commands.recipes.list:list_recipes",
        "List the recipes, and whether their plans can run.",
    ),
    "show": ("goalwright.interfaces.cli.commands.recipes.show:show", "Show a recipe: its goal, parameters and plan."),
    "check": ("goalwright.interfaces.cli.commands.recipes.check:check", "Check recipes against the skills of today."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def recipes() -> None:
    """Keep good plans as recipes, and list, show and check them.

    A recipe is a file recipes/NAME.yaml in the workspace: a goal with parameters, its plan, and the skills it needs.
    Running it needs no planning call.

    \b
    Examples:
      goalwright recipes save last --name weekly-report
      goalwright run --recipe weekly-report team=design file=log.md
      goalwright recipes list
      goalwright recipes check
    """
