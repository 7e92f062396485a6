"""The envelope: the one shape in which every tool answers a model."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from goalwright_skills.image_file import Image
from goalwright_skills.text.untrusted import join_surrogates

Status = Literal["success", "partial", "error"]
Code = Literal[
    "INVALID_PARAM",
    "NOT_FOUND",
    "ACCESS_DENIED",
    "PERMISSION_DENIED",
    "IS_DIRECTORY",
    "BINARY_FILE",
    "TIMEOUT",
    "CONFLICT",
    "EXECUTION_ERROR",
    "INTERNAL_ERROR",
]

TEXT_LIMIT = 8_000


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a tool failed, and what to do next."""

    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Context:
    """What the tool was called with, and where."""

    cwd: str
    params_input: Mapping[str, Any] = field(default_factory=dict)
    path_resolved: str | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """A tool's answer. `text` is for the model, `data` for programs; a model that can see is shown the `images`."""

    status: Status
    text: str
    context: Context
    data: Mapping[str, Any] = field(default_factory=dict)
    error: Fault | None = None
    time_ms: int = 0
    images: tuple[Image, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The envelope as plain JSON values; `error` is present only on error, `images` only where there are any."""
        context: dict[str, Any] = {
            "cwd": self.context.cwd,
            "params_input": join_surrogates(dict(self.context.params_input)),  # as it is recorded
        }
        if self.context.path_resolved is not None:
            context["path_resolved"] = self.context.path_resolved
        document: dict[str, Any] = {"status": self.status, "data": dict(self.data), "text": self.text}
        if self.error is not None:
            document["error"] = {"code": self.error.code, "message": self.error.message}
        if self.images:
            document["images"] = msgspec.to_builtins(self.images)
        return document | {"stats": {"time_ms": self.time_ms}, "context": context}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Envelope:
        """The envelope in a document of that form; raises msgspec.ValidationError if it is of another."""
        found = msgspec.convert(document, _Document)
        return cls(found.status, found.text, found.context, found.data, found.error, found.stats.time_ms, found.images)

    def to_json(self) -> str:
        """The envelope as a model receives it."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


class _Stats(msgspec.Struct, frozen=True):
    time_ms: int = 0


class _Document(msgspec.Struct, frozen=True):
    """The form that `to_dict` writes."""

    status: Status
    text: str = ""
    context: Context = Context("")
    data: Mapping[str, Any] = {}
    error: Fault | None = None
    stats: _Stats = _Stats()
    images: tuple[Image, ...] = ()


def time_since(start: float) -> int:
    """The milliseconds since a time of `time.monotonic`."""
    return round((time.monotonic() - start) * 1000)


def failure(code: Code, message: str, context: Context, *, time_ms: int = 0) -> Envelope:
    """An error envelope."""
    return Envelope("error", message, context, error=Fault(code, message), time_ms=time_ms)


# How much of each of its texts is kept: their ends.
LOG_LIMIT = 16 * 1024


@dataclass(frozen=True, slots=True)
class CallLog:
    """What a call wrote besides its answer: for the trace and the tool's author, not for the model."""

    tool: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


def no_log(_log: CallLog) -> None:
    """Drop the log."""


def tail(log: str) -> str:
    """The end of a text, as much as is kept of it."""
    dropped = len(log) - LOG_LIMIT
    return log if dropped <= 0 else f"[{dropped:,} characters dropped]\n{log[dropped:]}"
