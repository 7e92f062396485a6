"""The rows that `goalwright skills list` and the page show for tools of installed packages and MCP servers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goalwright.workspace.run_capabilities import capabilities
from goalwright_skills.builtin import toolset
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.functions.functions import FunctionTool
    from goalwright_skills.mcp.server_state import ServerState
    from goalwright_skills.preferences import Preferences
    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.skill import Source, State


def installed_tools(preferences: Preferences, *, everything: bool) -> list[Skill]:
    """Return the tools of installed packages; with `everything`, also those that are off or broken."""
    from goalwright_skills.functions import installed

    return [row for row in installed.rows(os.environ, preferences) if everything or row.state == "active"]


def mcp_tools(servers: Iterable[ServerState], *, everything: bool) -> list[Skill]:
    """Return the known tools and prompts of MCP servers; with `everything`, also those that are not offered."""
    rows = []
    for server in servers:
        active = server.state == "active"
        source: Source = "workspace" if server.entry.source == "workspace" else "global"
        for tool in server.tools if active or everything else ():
            text, file = " ".join(tool.description.split()), str(server.entry.file)
            state: State = "active" if active else "disabled"
            rows.append(Skill(tool.name, text, file, source, "executable", state, server.reason))
        for prompt in server.prompts if active else ():
            text = " ".join(prompt.description.split())
            rows.append(Skill(prompt.skill_name, text, str(server.entry.file), source))
    return rows


def task_capabilities(skills: WorkspaceSkills, functions: Sequence[Skill]) -> frozenset[str]:
    """Return what tasks of a run could do here; `functions` are the rows of installed tools."""
    registry = skills.registry
    folders = {skill.base_dir for skill in registry.list_skills() if skill.kind == "executable"}
    programs: list[Manifest] = []
    if folders:  # manifests and functions are slow to import
        from goalwright_skills.programs import manifest_file

        programs = [manifest for folder in sorted(folders) for manifest in manifest_file.read(folder)[0]]
    others: list[FunctionTool] = []
    if any(skill.source != "bundled" for skill in functions):
        from goalwright_skills.functions.functions import discover

        others = discover(registry.workspace, os.environ, skills.preferences)[0]
    return capabilities(programs, others) | toolset.capabilities(skills.offered)
