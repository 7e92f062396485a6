"""Tools for models that do not support them: described in the prompt, and called by a JSON object in the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from goalwright_planner.json_answer import NotJson, extract
from goalwright_planner.model import Message, Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.model import Request, ToolSpec

_RULES = """

You may call these tools. To call one, answer with nothing but a JSON object
{"tool": "<name>", "arguments": {…}}
and its result comes in the next message. When you need no tool, answer as usual.
"""


def without_tools(request: Request) -> Request:
    """The request with its tools described in the prompt, and earlier calls and results as plain messages."""
    plain = [_plain(message) for message in request.messages]
    if request.tools and request.may_call_tools:
        first = next(index for index, message in enumerate(plain) if message.role == "user")
        content = plain[first].content + _RULES + _description(request.tools)
        plain[first] = msgspec.structs.replace(plain[first], content=content)
    return replace(request, messages=tuple(plain), tools=())


def with_calls(reply: Reply, request: Request) -> Reply:
    """The reply with a tool call, if its text is one."""
    try:
        document = extract(reply.text, "tool")
    except NotJson:
        return reply
    names = {tool.name for tool in request.tools}
    if not isinstance(document, dict) or document.get("tool") not in names:
        return reply
    call = ToolCall(f"call_{len(request.messages)}", document["tool"], json.dumps(document.get("arguments") or {}))
    return msgspec.structs.replace(reply, text="", tool_calls=(call,), finish="tool_calls")


def _description(tools: Sequence[ToolSpec]) -> str:
    rows = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _plain(message: Message) -> Message:
    if message.tool_calls:
        calls = [{"tool": call.name, "arguments": call.arguments} for call in message.tool_calls]
        text = "\n".join(json.dumps(call, ensure_ascii=False) for call in calls)
        return Message("assistant", f"{message.content}\n{text}".strip())
    if message.role == "tool":
        return Message("user", f"Result of the tool:\n{message.content}")
    return message
