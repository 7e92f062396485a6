"""What the commands of `weft mcp` share: the servers of a workspace, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli import options
from weft.cli.view import output
from weft_skills.errors import InputError
from weft_skills.text.nearest import nearest_names
from weft_skills.text.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.workspace.tools import WorkspaceTools
    from weft_skills.mcp.servers import ServerState


def open_tools(workspace: Path) -> WorkspaceTools:
    """The tools of a workspace, of which these commands use only the MCP servers."""
    from weft.settings.settings import Settings
    from weft.workspace.skills import WorkspaceSkills
    from weft.workspace.tools import WorkspaceTools

    where = options.paths(workspace)
    return WorkspaceTools(where, WorkspaceSkills(where, Settings()).registry)


def chosen(states: Sequence[ServerState], names: Sequence[str]) -> list[ServerState]:
    """The servers of these names, or all; raises if there is none of a name."""
    known = [state.entry.name for state in states]
    for name in names:
        if name not in known:
            what = f"there is no MCP server {name!r}; servers are: {nearest_names(name, known)}"
            raise InputError(what, hint="`weft mcp list` shows them")
    return [state for state in states if not names or state.entry.name in names]


def show(states: Sequence[ServerState], warnings: Sequence[str], *, as_json: bool, quiet: bool) -> None:
    """Print the servers, and warnings about their files."""
    for warning in warnings if not quiet else ():
        output.say_warning(warning)
    if as_json:
        output.print_json([state.to_dict() for state in states])
        return
    if not states:
        output.say("No MCP servers. Name them in .mcp.json, or copy them with `weft mcp import`.")
    names = max((len(state.entry.name) for state in states), default=0)
    for state in states:
        tools = counted(len(state.tools), "tool") if state.tools else ""
        notes = "; ".join(filter(None, (tools, state.reason)))
        line = f"{state.entry.name.ljust(names)}  {state.entry.source.ljust(9)}  {state.state.ljust(9)}  {notes}"
        output.print_text(line.rstrip())
