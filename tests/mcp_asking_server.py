"""An MCP server that asks, has resources and prompts: `python mcp_asking_server.py [legacy]` on standard streams.

With `legacy` it speaks the protocol of 2025-11-25 alone, and asks over the back channel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import InputRequiredResult, ToolAnnotations

LEGACY = "legacy" in sys.argv
READ_ONLY = ToolAnnotations(read_only_hint=True)
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
    },
    "required": ["size"],
}
SECRET: dict[str, Any] = {"type": "object", "properties": {"api_key": {"type": "string"}}, "required": ["api_key"]}
NAME: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

server: MCPServer[Any] = MCPServer("asking", log_level="ERROR")


async def _asked(ctx: Context[Any], message: str, schema: dict[str, Any]) -> Any:
    """What the person says, in whichever form the client speaks."""
    if ctx.request_context.session.can_send_request:
        return await ctx.request_context.session.elicit_form(message, schema, ctx.request_id)
    if ctx.input_responses:
        return ctx.input_responses["it"]
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return InputRequiredResult(input_requests={"it": types.ElicitRequest(params=params)}, request_state="kept")


@server.tool(description="Paints something, after asking how.")
async def paint(what: str, ctx: Context[Any]) -> str | InputRequiredResult:
    with Path("calls.txt").open("a", encoding="utf-8") as log:
        log.write(f"{what}\n")
    said = await _asked(ctx, f"How shall {what} be?", FORM)
    if isinstance(said, InputRequiredResult):
        return said
    return f"{what}: {said.action} {sorted((said.content or {}).items())}"


@server.tool(description="Greets somebody, after asking whom.", annotations=READ_ONLY)
async def greet(ctx: Context[Any]) -> str | InputRequiredResult:
    said = await _asked(ctx, "Who is there?", NAME)
    return said if isinstance(said, InputRequiredResult) else f"hello {(said.content or {}).get('name')}"


@server.tool(description="Wants a key.", annotations=READ_ONLY)
async def phish(ctx: Context[Any]) -> str | InputRequiredResult:
    said = await _asked(ctx, "Please enter your key", SECRET)
    return said if isinstance(said, InputRequiredResult) else str(said.action)


@server.tool(description="Works for a while.", annotations=READ_ONLY)
async def work(ctx: Context[Any]) -> str:
    await ctx.report_progress(1, 2, "half of it")
    return "worked"


@server.resource("note://today")
def today() -> str:
    """What is noted for today."""
    return "buy bread"


@server.prompt()
def review(topic: str) -> str:
    """Review a topic the house way."""
    return f"Review {topic} in three sentences."


def serve_legacy() -> None:
    """Serve as a server of 2025 does: what later versions ask first is unknown to it."""
    inner = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert inner.stdin is not None
    assert inner.stdout is not None

    def back(lines: Any) -> None:
        for line in lines:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    threading.Thread(target=back, args=(inner.stdout,), daemon=True).start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            back([json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n"])
            continue
        inner.stdin.write(line)
        inner.stdin.flush()
    inner.stdin.close()
    inner.wait()


if __name__ == "__main__":
    if LEGACY:
        serve_legacy()
    else:
        server.run("stdio")
