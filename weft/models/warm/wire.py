"""Requests, replies and errors as JSON, in frames that say their length."""

from __future__ import annotations

import asyncio
import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from weft_planner import errors
from weft_planner.errors import ModelError
from weft_planner.model import Message, Reply, Request, ToolSpec

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
    plain: dict[str, Any] = msgspec.to_builtins(replace(request, on_text=None, key=""))
    return {name: value for name, value in plain.items() if name not in ("on_text", "key")}


def to_request(document: Mapping[str, Any]) -> Request:
    """The request in a document."""
    messages = msgspec.convert(document["messages"], tuple[Message, ...])
    tools = msgspec.convert(document["tools"], tuple[ToolSpec, ...])
    return Request(**{**document, "messages": messages, "tools": tools})


def from_reply(reply: Reply) -> dict[str, Any]:
    """A reply as JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(reply)
    return plain


def to_reply(document: Mapping[str, Any]) -> Reply:
    """The reply in a document."""
    return msgspec.convert(document, Reply)


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
