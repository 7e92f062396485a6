"""The names under which the tools of MCP servers are offered: `mcp__server__tool`."""

from __future__ import annotations

import hashlib
import re

PREFIX = "mcp__"
LIMIT = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """The name of a server's tool for models: other characters become `_`, and a hash ends one that is too long."""
    name = f"{PREFIX}{_OTHER.sub('_', server)}__{_OTHER.sub('_', tool)}"
    if len(name) <= LIMIT:
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: LIMIT - 9]}_{digest}"
