"""An MCP server that asks, has resources and prompts: `python -S mcp_asking_server.py modern|legacy`.

It is written by hand, so that it starts at once. With `legacy` it speaks the protocol of 2025-11-25, and asks over the
back channel; else that of 2026-07-28, where a call that asks is made again.
"""

from __future__ import annotations

import json
import sys
from typing import Any

LEGACY = "legacy" in sys.argv
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
READS: dict[str, Any] = {"annotations": {"readOnlyHint": True}}
OBJECT: dict[str, Any] = {"inputSchema": {"type": "object"}}
TOOLS: list[dict[str, Any]] = [
    {"name": "paint", "description": "Paints something, after asking how.", **OBJECT},
    {"name": "greet", "description": "Greets somebody, after asking whom.", **OBJECT, **READS},
    {"name": "phish", "description": "Wants a key.", **OBJECT, **READS},
    {"name": "work", "description": "Works for a while.", **OBJECT, **READS},
]
ARGUMENT = {"name": "topic", "required": True}
PROMPTS = [{"name": "review", "description": "Review a topic the house way.", "arguments": [ARGUMENT]}]
RESOURCES = [{"uri": "note://today", "name": "today"}]
CAPABILITIES = {"tools": {}, "resources": {}, "prompts": {}}


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(request: dict[str, Any], message: str, schema: dict[str, Any]) -> Any:
    """What the person says; None if the call has to be made again for that."""
    if not LEGACY:
        return (request["params"].get("inputResponses") or {}).get("it")
    send(id="asked", method="elicitation/create", params={"message": message, "requestedSchema": schema})
    for line in sys.stdin:
        answer = json.loads(line)
        if answer.get("id") == "asked" and "method" not in answer:
            return answer["result"]
        if answer.get("method") == "notifications/cancelled":
            return {"action": "cancel"}
    sys.exit()


def call(request: dict[str, Any]) -> dict[str, Any]:
    """The result of a call."""
    name, given = request["params"]["name"], request["params"].get("arguments") or {}
    if name == "work":
        token = request["params"]["_meta"]["progressToken"]
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": "half of it"}
        send(method="notifications/progress", params=progress)
        return text("worked")
    message, schema = {
        "paint": (f"How shall {given.get('what')} be?", FORM),
        "greet": ("Who is there?", NAME),
        "phish": ("Please enter your key", SECRET),
    }[name]
    said = ask(request, message, schema)
    if said is None:
        params = {"mode": "form", "message": message, "requestedSchema": schema}
        asked = {"it": {"method": "elicitation/create", "params": params}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "kept"}
    content = said.get("content") or {}
    if name == "paint":
        return text(f"{given.get('what')}: {said['action']} {sorted(content.items())}")
    return text(f"hello {content.get('name')}" if name == "greet" else said["action"])


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None if it is unknown."""
    match request["method"]:
        case "server/discover" if not LEGACY:
            return {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES, "serverInfo": INFO}
        case "initialize" if LEGACY:
            return {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": INFO}
        case "tools/list":
            return {"tools": TOOLS}
        case "prompts/list":
            return {"prompts": PROMPTS}
        case "resources/list":
            return {"resources": RESOURCES}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "resources/read":
            return {"contents": [{"uri": request["params"]["uri"], "text": "buy bread"}]}
        case "prompts/get":
            topic = request["params"]["arguments"]["topic"]
            content = {"type": "text", "text": f"Review {topic} in three sentences."}
            return {"messages": [{"role": "user", "content": content}]}
        case "tools/call":
            return call(request)
    return None


INFO = {"name": "asking", "version": "1"}

if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "method" not in request or "id" not in request:
            continue
        result = answer(request)
        if result is None:
            send(id=request["id"], error={"code": -32601, "message": "Method not found"})
        else:
            if not LEGACY:
                result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
            send(id=request["id"], result=result)
