"""Tools for a model that takes none: they are described in the prompt, and a call is a JSON object in the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from planner.model import Message, Reply, ToolCall
from planner.plan.json_answer import NotJson, extract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.model import Request, ToolSpec

_RULES = """

You may call these tools. To call one, answer with nothing but a JSON object
{"tool": "<name>", "arguments": {…}}
and its result comes in the next message. When you need no tool, answer as usual.
"""


def without_tools(request: Request) -> Request:
    """The request with its tools in words, for a model that takes none."""
    spoken = [_spoken(message) for message in request.messages]
    if request.tools and request.may_call_tools:
        asked = next(place for place, message in enumerate(spoken) if message.role == "user")
        spoken[asked] = replace(spoken[asked], content=spoken[asked].content + _RULES + _described(request.tools))
    return replace(request, messages=tuple(spoken), tools=())


def with_calls(reply: Reply, request: Request) -> Reply:
    """The reply with the tool call that its text stands for, if it does."""
    try:
        document = extract(reply.text, "tool")
    except NotJson:
        return reply
    names = {tool.name for tool in request.tools}
    if not isinstance(document, dict) or document.get("tool") not in names:
        return reply
    call = ToolCall(f"call_{len(request.messages)}", document["tool"], json.dumps(document.get("arguments") or {}))
    return replace(reply, text="", tool_calls=(call,), finish="tool_calls")


def _described(tools: Sequence[ToolSpec]) -> str:
    rows = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _spoken(message: Message) -> Message:
    if message.tool_calls:
        calls = [{"tool": call.name, "arguments": call.arguments} for call in message.tool_calls]
        said = "\n".join(json.dumps(call, ensure_ascii=False) for call in calls)
        return Message("assistant", f"{message.content}\n{said}".strip())
    if message.role == "tool":
        return Message("user", f"Result of the tool:\n{message.content}")
    return message
