"""The envelope, which is the result of every tool, and the log of a call."""

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
    """A tool's error: its code, and a message that ends with the next step."""

    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Context:
    """The arguments and the folder of a call."""

    cwd: str
    params_input: Mapping[str, Any] = field(default_factory=dict)
    path_resolved: str | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """A tool's result: `text` for the model, `data` for programs, `images` for models with vision."""

    status: Status
    text: str
    context: Context
    data: Mapping[str, Any] = field(default_factory=dict)
    error: Fault | None = None
    time_ms: int = 0
    images: tuple[Image, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the envelope as JSON values; `error` and `images` are present only if there are any."""
        context: dict[str, Any] = {
            "cwd": self.context.cwd,
            "params_input": join_surrogates(dict(self.context.params_input)),  # as in the journal
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
        """Parse the result of `to_dict`; raises msgspec.ValidationError if the document has another form."""
        parsed = msgspec.convert(document, _Document)
        return cls(
            parsed.status, parsed.text, parsed.context, parsed.data, parsed.error, parsed.stats.time_ms, parsed.images
        )

    def to_json(self) -> str:
        """Return the JSON text that a model receives."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


class _Stats(msgspec.Struct, frozen=True):
    time_ms: int = 0


class _Document(msgspec.Struct, frozen=True):
    """The document that `to_dict` writes."""

    status: Status
    text: str = ""
    context: Context = Context("")
    data: Mapping[str, Any] = {}
    error: Fault | None = None
    stats: _Stats = _Stats()
    images: tuple[Image, ...] = ()


def time_since(start: float) -> int:
    """Return the milliseconds since a value of `time.monotonic`."""
    return round((time.monotonic() - start) * 1000)


def failure(code: Code, message: str, context: Context, *, time_ms: int = 0) -> Envelope:
    """Return an error envelope."""
    return Envelope("error", message, context, error=Fault(code, message), time_ms=time_ms)


# The number of characters kept from the end of each text.
LOG_LIMIT = 16 * 1024


@dataclass(frozen=True, slots=True)
class CallLog:
    """The output of a call besides its result: for the trace and the tool's author, not for the model."""

    tool: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


def no_log(_log: CallLog) -> None:
    """Drop the log."""


def tail(log: str) -> str:
    """Return the end of a log, up to the limit."""
    dropped = len(log) - LOG_LIMIT
    return log if dropped <= 0 else f"[{dropped:,} characters dropped]\n{log[dropped:]}"
