"""What the commands of `weft skills` share: a workspace's skills and tools, their rows and their warnings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.workspace.skills import WorkspaceSkills
    from weft.workspace.tools import WorkspaceTools
    from weft_skills.discovery.registry import Registry
    from weft_skills.functions.functions import FunctionTool
    from weft_skills.programs.manifest import Manifest
    from weft_skills.skill import Skill, Source, State


def open_skills(workspace: Path, flags: dict[str, Any], *, quiet: bool) -> WorkspaceSkills:
    """The skills of a workspace."""
    from weft.workspace.skills import WorkspaceSkills

    where = options.paths(workspace)
    return WorkspaceSkills(where, options.settings(where, flags, quiet=quiet).settings)


def open_registry(workspace: Path) -> Registry:
    """The registry of a workspace's skills, without warnings about settings."""
    return open_skills(workspace, {}, quiet=True).registry


def open_tools(workspace: Path, *, unsafe: bool | None, trust: bool, quiet: bool) -> WorkspaceTools:
    """The tools of a workspace; with `trust` it is trusted first, because its settings only apply then."""
    from weft.cli import trust_prompt
    from weft.workspace.skills import WorkspaceSkills
    from weft.workspace.tools import WorkspaceTools

    where = options.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    settings = options.settings(where, {"unsafe_tools": unsafe}, quiet=quiet).settings
    return WorkspaceTools(where, WorkspaceSkills(where, settings).registry, unsafe=settings.unsafe_tools)


def installed_tools(*, everything: bool) -> list[Skill]:
    """The tools of installed packages as rows; disabled ones only if `everything` is asked for."""
    from weft_skills.functions import installed

    return [row for row in installed.rows(os.environ) if everything or row.state == "active"]


def mcp_tools(workspace: Path, *, everything: bool) -> list[Skill]:
    """The tools of MCP servers as rows, as far as they are listed; no server is started."""
    where = options.paths(workspace)
    if not (where.workspace / ".mcp.json").is_file() and not where.user_mcp.is_file():
        return []
    from weft.cli.commands.mcp.workspace import open_tools as open_servers
    from weft_skills.skill import Skill

    rows = []
    for state in open_servers(workspace).mcp.states()[0]:
        used = state.state == "active"
        source: Source = "workspace" if state.entry.source == "workspace" else "global"
        for tool in state.tools if used or everything else ():
            text, file = " ".join(tool.description.split()), str(state.entry.file)
            stands: State = "active" if used else "disabled"
            rows.append(Skill(tool.name, text, file, source, "executable", stands, state.reason))
    return rows


def able(skills: WorkspaceSkills, functions: Sequence[Skill]) -> frozenset[str]:
    """What tasks can do here, as a run would find it; `functions` are the rows of installed tools."""
    from weft.workspace.run_capabilities import capabilities, of_builtin

    registry = skills.registry
    folders = {skill.base_dir for skill in registry.list_skills() if skill.kind == "executable"}
    programs: list[Manifest] = []
    if folders:  # reading manifests and functions takes long to import
        from weft_skills.programs import manifest_file

        programs = [one for folder in sorted(folders) for one in manifest_file.read(folder)[0]]
    others: list[FunctionTool] = []
    if any(skill.source != "bundled" for skill in functions):
        from weft_skills.functions.functions import discover

        others = discover(registry.workspace, os.environ)[0]
    return capabilities(programs, others) | of_builtin(skills.offered)


def warn(registry: Registry, *, verbose: bool, quiet: bool) -> None:
    """Print the problems of skills: a summary, or with `verbose` each of them."""
    from weft_skills.discovery.registry import summary

    if quiet and not verbose:
        return
    problems = registry.warnings
    for text in map(str, problems) if verbose else summary(problems):
        output.say_warning(text)
