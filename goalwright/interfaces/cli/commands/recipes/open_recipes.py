"""What the commands of `goalwright recipes` share: a workspace's recipes, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli import configuration
from goalwright.interfaces.cli.configuration import SettingFlags

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.runs.recipes.recipe import RecipeParameter
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes


def open_recipes(workspace: Path, *, quiet: bool) -> WorkspaceRecipes:
    """The recipes of a workspace, with the settings in force."""
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
    from goalwright.workspace.workspace import Workspace

    where = configuration.paths(workspace)
    return WorkspaceRecipes(Workspace(where, configuration.settings(where, SettingFlags(), quiet=quiet).settings))


def parameter_line(parameter: RecipeParameter) -> str:
    """A parameter in a line: name, type, default and what it is."""
    default = "must be given" if parameter.default is None else f"default: {parameter.default}"
    choices = f" of {', '.join(parameter.choices)}" if parameter.choices else ""
    said = f", {parameter.description}" if parameter.description else ""
    return f"{parameter.name} ({parameter.type}{choices}; {default}{said})"
