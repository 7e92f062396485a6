"""The configured MCP servers, their states and logins; they can be trusted only in a terminal."""

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
    """Return the servers as `mcp list --json` prints them, with their commands and the one that trusts each."""
    tools = site.workspace.tools
    states, warnings = tools.mcp.states() if tools.has_mcp else ([], [])
    secrets = Secrets.of(os.environ)
    return {"servers": [_line(state, secrets) for state in states], "warnings": warnings}


@in_thread
def begin_login(site: Site, request: Request) -> dict[str, Any]:
    """Start a login at a trusted server; `url` is the address to open, null if the server needs no login."""
    from goalwright_skills.mcp.server_state import select

    servers = site.workspace.tools.mcp
    state = select(servers.states()[0], [request.path_params["name"]])[0]
    url = site.logins.begin(servers, state.entry)
    return {"name": state.entry.name, "url": url or None, "login": servers.login_state(state.entry)}


@in_thread
def show_login(site: Site, request: Request) -> dict[str, Any]:
    """Return whether a login at a server is in progress, and why the last one failed."""
    from goalwright_skills.mcp.server_state import select

    servers = site.workspace.tools.mcp
    entry = select(servers.states()[0], [request.path_params["name"]])[0].entry
    in_progress, error = site.logins.status(entry.name)
    return {"name": entry.name, "login": servers.login_state(entry), "under_way": in_progress, "error": error or None}


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
        # Quoted, because the name is untrusted and the user pastes this line into a shell.
        "command": f"goalwright mcp check --trust -- {shlex.quote(entry.name)}" if needs_trust else None,
        "warnings": list(state.warnings),
    }


def _starts(entry: ServerEntry) -> str:
    """Return the command, or the address without its user, query and fragment, which may hold secrets."""
    shown = entry.command_line
    if not entry.raw.get("url"):
        return shown
    try:
        parts = urlsplit(shown)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
