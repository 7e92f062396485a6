"""The names under which what MCP servers have is offered: tools `mcp__server__tool`, prompts `mcp:server:prompt`."""

from __future__ import annotations

import hashlib
import re

from goalwright_skills.skill import PROMPT_PREFIX

PREFIX = "mcp__"
LIMIT = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """The name of a server's tool for models: other characters become `_`, and a hash ends one that is too long."""
    return _cut(f"{PREFIX}{_OTHER.sub('_', server)}__{_OTHER.sub('_', tool)}", server, tool)


def prompt_name(server: str, prompt: str) -> str:
    """The name of a server's prompt among skills, made as a tool's is."""
    return _cut(f"{PROMPT_PREFIX}{_OTHER.sub('_', server)}:{_OTHER.sub('_', prompt)}", server, prompt)


def _cut(name: str, server: str, own: str) -> str:
    if len(name) <= LIMIT:
        return name
    digest = hashlib.sha256(f"{server}\0{own}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: LIMIT - 9]}_{digest}"
