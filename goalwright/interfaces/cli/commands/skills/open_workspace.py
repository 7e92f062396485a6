"""Open a workspace's skills and tools, for the commands of `goalwright skills`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli import configuration
from goalwright.interfaces.cli.configuration import SettingFlags
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright.workspace.workspace import Workspace
    from goalwright_skills.discovery.registry import Registry


def open_skills(workspace: Path, flags: SettingFlags | None = None, *, quiet: bool) -> WorkspaceSkills:
    """Return the skills of a workspace."""
    from goalwright.workspace.skills import WorkspaceSkills

    where = configuration.paths(workspace)
    return WorkspaceSkills(where, configuration.settings(where, flags or SettingFlags(), quiet=quiet).settings)


def open_registry(workspace: Path) -> Registry:
    """Return the registry of a workspace's skills, without warnings about settings."""
    return open_skills(workspace, quiet=True).registry


def open_workspace(workspace: Path, flags: SettingFlags, *, trust: bool, quiet: bool) -> Workspace:
    """Return a workspace with its tools; with `trust`, its settings are trusted before they are read."""
    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright.workspace.workspace import Workspace

    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    return Workspace(where, configuration.settings(where, flags, quiet=quiet).settings)


def warn(registry: Registry, *, verbose: bool, quiet: bool, more: Iterable[str] = ()) -> None:
    """Print a summary of the problems of skills, or each with `verbose`, then `more` warnings."""
    from goalwright_skills.discovery.registry import summary

    if quiet and not verbose:
        return
    problems = registry.warnings
    hint = "`goalwright skills list --all` or `-v` shows each"
    for text in (*(map(str, problems) if verbose else summary(problems, hint=hint)), *more):
        output.say_warning(text)
