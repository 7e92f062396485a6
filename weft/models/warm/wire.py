"""Requests, replies and errors as JSON, in frames that say their length."""

from __future__ import annotations

import asyncio
import json
import struct
from typing import TYPE_CHECKING, Any

from weft_planner import errors, event_fields
from weft_planner.errors import ModelError
from weft_planner.model import Message, Reply, Request, ToolCall, ToolSpec, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft_skills.errors import WeftError

_LENGTH = struct.Struct(">I")
_LONGEST = 256 * 2**20
_ERRORS = {one.__name__: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ModelError)}


def frame(message: Mapping[str, Any]) -> bytes:
    """A message, preceded by its length."""
    body = json.dumps(message).encode()
    return _LENGTH.pack(len(body)) + body


async def read(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message; None if the other end is gone or sends something else."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > _LONGEST:
            return None
        message = json.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, OSError, ValueError):
        return None
    return message if isinstance(message, dict) else None


def from_request(request: Request) -> dict[str, Any]:
    """A request without what only this process can use."""
    document = event_fields.to_dict(request)
    return {name: value for name, value in document.items() if name not in ("type", "on_text", "key")}


def to_request(document: Mapping[str, Any]) -> Request:
    """The request in a document."""
    messages = tuple(
        Message(row["role"], row["content"], _calls(row["tool_calls"]), row["tool_call_id"])
        for row in document["messages"]
    )
    tools = tuple(ToolSpec(**row) for row in document["tools"])
    return Request(**{**document, "messages": messages, "tools": tools})


def from_reply(reply: Reply) -> dict[str, Any]:
    """A reply as JSON values."""
    document = event_fields.to_dict(reply)
    del document["type"]
    return document


def to_reply(document: Mapping[str, Any]) -> Reply:
    """The reply in a document."""
    calls, usage = _calls(document["tool_calls"]), Usage(**document["usage"])
    return Reply(**{**document, "tool_calls": calls, "usage": usage})


def from_error(error: WeftError) -> dict[str, Any]:
    """An error with what decides how it is handled."""
    return {
        "type": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "model": getattr(error, "model", ""),
        "retry_after": getattr(error, "retry_after", None),
    }


def to_error(document: Mapping[str, Any]) -> ModelError:
    """The error in a document."""
    kind = _ERRORS.get(document["type"], ModelError)
    error = kind(document["message"], hint=document["hint"], model=document["model"])
    if isinstance(error, errors.Transient):
        error.retry_after = document["retry_after"]
    return error


def _calls(rows: list[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**row) for row in rows)
