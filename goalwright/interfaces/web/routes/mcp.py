"""The MCP servers of the workspace and the user's own, as they stand, and their logins; trust is the terminal's."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright.interfaces.web.replies import in_thread
from goalwright_executor.capture.secrets import Secrets

if TYPE_CHECKING:
    from starlette.requests import Request

    from goalwright.interfaces.web.site import Site
    from goalwright_skills.mcp.entry import ServerEntry
    from goalwright_skills.mcp.server_state import ServerState


@in_thread
def list_servers(site: Site, _: Request) -> dict[str, Any]:
    """The servers as `mcp list --json` prints them, with what each starts and the command that trusts it."""
    tools = site.workspace.tools
    states, warnings = tools.mcp.states() if tools.has_mcp else ([], [])
    secrets = Secrets.of(os.environ)
    return {"servers": [_line(state, secrets) for state in states], "warnings": warnings}


@in_thread
def begin_login(site: Site, request: Request) -> dict[str, Any]:
    """Begin a login at a trusted server; `url` is what the person opens, null if it wants no login."""
    from goalwright_skills.mcp.server_state import select

    servers = site.workspace.tools.mcp
    state = select(servers.states()[0], [request.path_params["name"]])[0]
    url = site.logins.begin(servers, state.entry)
    return {"name": state.entry.name, "url": url or None, "login": servers.login_state(state.entry)}


@in_thread
def show_login(site: Site, request: Request) -> dict[str, Any]:
    """How a login at a server stands: whether one that was begun here is under way, and why the last one failed."""
    from goalwright_skills.mcp.server_state import select

    servers = site.workspace.tools.mcp
    entry = select(servers.states()[0], [request.path_params["name"]])[0].entry
    under_way, error = site.logins.standing(entry.name)
    return {"name": entry.name, "login": servers.login_state(entry), "under_way": under_way, "error": error or None}


@in_thread
def end_login(site: Site, request: Request) -> dict[str, Any]:
    """Forget the login at a server."""
    from goalwright_skills.mcp.server_state import select

    servers = site.workspace.tools.mcp
    state = select(servers.states()[0], [request.path_params["name"]])[0]
    file = servers.login_file(state.entry)
    if file is not None:
        file.remove()
    return {"name": state.entry.name, "login": "none"}


def _line(state: ServerState, secrets: Secrets) -> dict[str, Any]:
    entry = state.entry
    needs_trust = state.state in ("untrusted", "changed")
    return state.to_dict() | {
        "login": state.login,
        "prompts": [prompt.name for prompt in state.prompts],
        "resources": state.resources,
        "tools": [
            {"name": tool.name, "tool": tool.tool, "description": tool.description, "read_only": tool.read_only}
            for tool in state.tools
        ],
        "file": str(entry.file),
        "starts": secrets.redact(_starts(entry)),
        "variables": [{"name": name, "goes_to": secrets.redact(where)} for name, where in entry.variables()],
        # A name is a stranger's, and this line is made to be pasted into a shell.
        "command": f"goalwright mcp check --trust -- {shlex.quote(entry.name)}" if needs_trust else None,
        "warnings": list(state.warnings),
    }


def _starts(entry: ServerEntry) -> str:
    """The command, or the address without what a login may be written in."""
    shown = entry.command_line
    if not entry.raw.get("url"):
        return shown
    try:
        parts = urlsplit(shown)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
