"""Resources of MCP servers in a typed goal, `@server:uri`: read when the goal is sent, and given to it as files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import safe_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.runs.runtime import Goalwright

_RESOURCE = re.compile(r"(?<!\S)@([\w.-]+):(\S*[^\s.,;:!?)])")
_NAME = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60


async def resource_files(text: str, goalwright: Goalwright) -> list[Path]:
    """The files of the resources that a text names; raises InputError if a server does not give one.

    What names no server that is configured stays text.
    """
    tools = goalwright.workspace.tools
    found = dict.fromkeys(_RESOURCE.findall(text)) if tools.has_mcp else {}
    servers = {state.entry.name for state in tools.mcp.states()[0]} if found else set()
    return [await _file(goalwright, server, uri) for server, uri in found if server in servers]


async def _file(goalwright: Goalwright, server: str, uri: str) -> Path:
    agents = goalwright.paths.agents
    folder = agents / "runs" / "resources" / hashlib.sha256(f"{server}:{uri}".encode()).hexdigest()[:16]
    read = await goalwright.workspace.tools.read_resource(server, uri, folder)
    if read.error is not None:
        raise InputError(f"@{server}:{uri} cannot be read: {read.error.message}", hint="leave it out, or try it again")
    kept = [read.data.get("artifact"), *(row.get("path") for row in read.data.get("files", ()))]
    if whole := next(filter(None, kept), None):
        return Path(whole)
    path = folder / (_NAME.sub("-", uri.rpartition("/")[2])[:_LONGEST_NAME].strip(".-") or "resource")
    safe_files.write(path, read.text, below=agents.parent)
    return path
