"""The MCP servers of the workspace and the user's own, as they stand; none is started, and trust is the terminal's."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from weft.web.replies import in_thread
from weft_executor.capture.secrets import Secrets

if TYPE_CHECKING:
    from starlette.requests import Request

    from weft.web.site import Site
    from weft_skills.mcp.entry import ServerEntry
    from weft_skills.mcp.servers import ServerState


@in_thread
def list_servers(site: Site, _: Request) -> dict[str, Any]:
    """The servers as `mcp list --json` prints them, with what each starts and the command that trusts it."""
    tools = site.workspace.tools
    states, warnings = tools.mcp.states() if tools.has_mcp else ([], [])
    secrets = Secrets.of(os.environ)
    return {"servers": [_line(state, secrets) for state in states], "warnings": warnings}


def _line(state: ServerState, secrets: Secrets) -> dict[str, Any]:
    entry = state.entry
    needs_trust = state.state in ("untrusted", "changed")
    return state.to_dict() | {
        "tools": [
            {"name": tool.name, "tool": tool.tool, "description": tool.description, "read_only": tool.read_only}
            for tool in state.tools
        ],
        "file": str(entry.file),
        "starts": secrets.redact(_starts(entry)),
        "variables": [{"name": name, "goes_to": secrets.redact(where)} for name, where in entry.variables()],
        # A name is a stranger's, and this line is made to be pasted into a shell.
        "command": f"weft mcp check --trust -- {shlex.quote(entry.name)}" if needs_trust else None,
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
