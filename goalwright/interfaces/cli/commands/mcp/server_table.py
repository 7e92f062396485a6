"""What the commands of `goalwright mcp` share: the servers of a workspace, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli import configuration
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.workspace.tools import WorkspaceTools
    from goalwright_skills.mcp.server_state import ServerState


_LOGINS = {
    "active": "logged in",
    "expired": "its login has ended: log in again",
    "needed": "it wants another login",
}


def open_tools(workspace: Path) -> WorkspaceTools:
    """The tools of a workspace, of which these commands use only the MCP servers."""
    from goalwright.settings.settings import Settings
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright.workspace.tools import WorkspaceTools

    where = configuration.paths(workspace)
    return WorkspaceTools(where, WorkspaceSkills(where, Settings()).registry)


def server_states(workspace: Path) -> list[ServerState]:
    """How the configured servers stand; none is started."""
    return open_tools(workspace).mcp.states()[0] if configuration.paths(workspace).has_mcp else []


def show(states: Sequence[ServerState], warnings: Sequence[str], mode: OutputMode) -> None:
    """Print the servers, and warnings about their files."""
    for warning in warnings if not mode.quiet else ():
        output.say_warning(warning)
    if mode.as_json:
        output.print_json([state.to_dict() for state in states])
        return
    if not states:
        output.say("No MCP servers. Name them in .mcp.json, or copy them with `goalwright mcp import`.")
    names = max((len(state.entry.name) for state in states), default=0)
    for state in states:
        tools = counted(len(state.tools), "tool") if state.tools else ""
        login = _LOGINS.get(state.login, "") if state.state != "login" else ""
        notes = "; ".join(filter(None, (tools, login, state.reason)))
        line = f"{state.entry.name.ljust(names)}  {state.entry.source.ljust(9)}  {state.state.ljust(9)}  {notes}"
        output.print_text(line.rstrip())
