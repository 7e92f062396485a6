"""The client for the MCP conformance suite: lists the tools of a server and calls them with goalwright.

The suite passes the address as the last argument and the scenario's values in MCP_CONFORMANCE_CONTEXT. Logins are
done by following redirects, and forms are answered with their defaults.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2

from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.mcp.servers import McpServers
from goalwright_skills.mcp.tools import McpTool
from goalwright_skills.programs.trust import Trust
from goalwright_skills.tools.current_call import FormAnswer, FormQuestion, asking
from goalwright_skills.tools.form import parse_answer

_SECONDS = 20.0
_MOST_REDIRECTS = 5
_MOST_LOGINS = 3
_CALLS = {"type": {"string": "text", "integer": 5, "number": 3, "boolean": True, "array": [], "object": {}}}


async def browse(url: str) -> None:
    """Open a page and follow all redirects, including the one back to goalwright."""

    async def follow() -> None:
        async with httpx2.AsyncClient(follow_redirects=True, max_redirects=_MOST_REDIRECTS) as browser:
            await browser.get(url)

    asyncio.get_running_loop().create_task(follow())


class Defaults:
    """A user who accepts logins and submits forms with their defaults."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    async def fill_in(self, question: FormQuestion) -> FormAnswer:
        """Return the form's defaults, and a value for fields without one."""
        values = parse_answer(question.schema, "{}")[0]
        rows = question.schema.get("properties") or {}
        return FormAnswer("accept", {**{name: _value(row) for name, row in rows.items()}, **values})

    async def log_in(self, server: str, why: str, command: str) -> bool:
        """Log in at once."""
        print(why, command, sep="; ", file=sys.stderr)
        return await asyncio.to_thread(log_in, self._servers)

    async def logged_in(self, server: str) -> None:
        """Do nothing."""

    def hear(self, server: str, text: str) -> None:
        """Print a message of the server."""
        print(f"{server}: {text}", file=sys.stderr)


def _value(row: Any) -> Any:
    if isinstance(row, dict) and row.get("enum"):
        return row["enum"][0]
    kind = row.get("type") if isinstance(row, dict) else None
    return _CALLS["type"].get(kind if isinstance(kind, str) else "string", "text")


def log_in(servers: McpServers) -> bool:
    """Log in at the only server."""
    entry = servers.states()[0][0].entry
    return servers.log_in(entry, browse, _SECONDS)


def opened(url: str, folder: Path, context: dict[str, Any]) -> McpServers:
    """Configure the suite's server as a user's entry."""
    oauth: dict[str, Any] = {"clientMetadataUrl": "https://conformance-test.local/client-metadata.json"}
    if context.get("client_id"):
        oauth = {"clientId": context["client_id"], "clientSecret": context.get("client_secret") or ""}
    entry = {"type": "http", "url": url, "timeout": 25_000, "oauth": oauth}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"suite": entry}}), encoding="utf-8")
    trust = Trust(folder / "trust.json")
    return McpServers(folder, folder / "mcp.json", folder / "cache", trust, dict(os.environ), logins=folder / "logins")


async def call_all(servers: McpServers, context: dict[str, Any]) -> None:
    """Call the scenario's tools, or every tool with values that fit its schema."""
    offered = await asyncio.to_thread(servers.offer)
    calls = [(str(call["name"]), call.get("arguments") or {}) for call in context.get("toolCalls") or ()]
    by_own = {tool.tool: tool for tool in offered.tools}
    if not calls:
        calls = [(tool.tool, _arguments(tool.parameters)) for tool in offered.tools]
        if "json_schema_echo" in by_own:  # it expects the unchanged schema of the other tool
            schema = by_own["json_schema_2020_12_tool"].parameters
            calls = [("json_schema_echo", {"schema": dict(schema)})]
    for name, arguments in calls:
        tool = by_own.get(name)
        if tool is None:
            print(f"{name}: not offered", file=sys.stderr)
            continue
        envelope = await McpTool(tool.name, tool.description, tool.parameters, servers).call(arguments)
        print(f"{name}: {envelope.status} {envelope.text[:200]}", file=sys.stderr)


def _arguments(schema: Any) -> dict[str, Any]:
    rows = schema.get("properties") or {}
    required = schema.get("required") or ()
    return {name: row.get("default", _value(row)) for name, row in rows.items() if name in required}


def main() -> int:
    """Run the scenario; return 0 if the server is usable."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as name:
        servers = opened(sys.argv[-1], Path(name), context)
        try:
            with servers.held():
                state = servers.refresh(servers.states()[0][0].entry)
                for _ in range(_MOST_LOGINS):  # the authorisation server may have changed meanwhile
                    if state.state == "login":
                        log_in(servers)
                        state = servers.refresh(state.entry)
                print(f"{state.state}: {state.reason}", file=sys.stderr)
                with asking(Defaults(servers)):
                    asyncio.run(call_all(servers, context))
        except McpFault as fault:
            print(f"{fault.message}; {fault.hint}", file=sys.stderr)
            return 1
        return 0 if state.state == "active" else 1


if __name__ == "__main__":
    sys.exit(main())
