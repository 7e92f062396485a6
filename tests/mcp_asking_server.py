"""An MCP server with elicitation, resources and prompts: `python -S mcp_asking_server.py modern|legacy`.

It is hand-written for a fast start. `legacy` is protocol 2025-11-25, which asks over the back channel; `modern` is
2026-07-28, which repeats the call with the answer. Calls run concurrently.
"""

from __future__ import annotations

import itertools
import json
import queue
import sys
import threading
import time
from pathlib import Path
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
WHAT: dict[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}
TOOLS: list[dict[str, Any]] = [
    {"name": "paint", "description": "Paints something, after asking how.", "inputSchema": WHAT},
    {"name": "greet", "description": "Greets somebody, after asking whom.", **OBJECT, **READS},
    {"name": "visit", "description": "Wants a page to be opened.", **OBJECT, **READS},
    {"name": "phish", "description": "Wants a key.", **OBJECT, **READS},
    {"name": "work", "description": "Works for a while.", **OBJECT, **READS},
    {"name": "wait", "description": "Waits until the file `go` is there.", **OBJECT, **READS},
]
ARGUMENT = {"name": "topic", "required": True}
PROMPTS = [{"name": "review", "description": "Review a topic the house way.", "arguments": [ARGUMENT]}]
RESOURCES = [{"uri": "note://today", "name": "today"}]
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}


WRITING = threading.Lock()
NUMBERS = itertools.count()
ASKED: dict[str, tuple[Any, queue.Queue[Any]]] = {}


def send(**message: Any) -> None:
    with WRITING:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(request: dict[str, Any], message: str, schema: dict[str, Any]) -> Any:
    """Return the user's answer, or None if the client has to repeat the call with it."""
    if not LEGACY:
        return (request["params"].get("inputResponses") or {}).get("it")
    number, said = f"asked-{next(NUMBERS)}", queue.Queue[Any]()
    ASKED[number] = request["id"], said
    send(id=number, method="elicitation/create", params={"message": message, "requestedSchema": schema})
    return said.get()


def take(message: dict[str, Any]) -> None:
    """Deliver an answer, or the end of a call, to its waiter."""
    if message.get("method") == "notifications/cancelled":
        for asker, said in list(ASKED.values()):
            if asker == message["params"]["requestId"]:
                said.put({"action": "cancel"})
    elif "method" not in message and message.get("id") in ASKED:
        ASKED.pop(message["id"])[1].put(message.get("result"))


def call(request: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a tool call."""
    name, given = request["params"]["name"], request["params"].get("arguments") or {}
    if name == "work":
        token = request["params"]["_meta"]["progressToken"]
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": "half of it"}
        send(method="notifications/progress", params=progress)
        return text("worked")
    if name == "wait":
        while not Path("go").exists():
            time.sleep(0.02)
        return text("waited")
    message, schema = {
        "paint": (f"How shall {given.get('what')} be?", FORM),
        "greet": ("Who is there?", NAME),
        "visit": ("Please pay", {}),
        "phish": ("Please enter your key", SECRET),
    }[name]
    said = ask(request, message, schema)
    if said is None:
        params: dict[str, Any] = {"mode": "form", "message": message, "requestedSchema": schema}
        if name == "visit":
            params = {"mode": "url", "message": message, "url": "https://pay.example/7", "elicitationId": "7"}
        asked = {"it": {"method": "elicitation/create", "params": params}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "kept"}
    content = said.get("content") or {}
    if name == "paint":
        return text(f"{given.get('what')}: {said['action']} {sorted(content.items())}")
    return text(f"hello {content.get('name')}" if name == "greet" else said["action"])


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request, or None if the method is unknown."""
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


def reply(request: dict[str, Any]) -> None:
    """Answer a request."""
    result = answer(request)
    if result is None:
        send(id=request["id"], error={"code": -32601, "message": "Method not found"})
        return
    if not LEGACY:
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
    send(id=request["id"], result=result)


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message or "id" not in message:
            take(message)
        else:
            threading.Thread(target=reply, args=(message,), daemon=True).start()
