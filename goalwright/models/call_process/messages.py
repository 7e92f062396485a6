"""The messages between goalwright and a call process: JSON objects, each preceded by its length."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from msgspec import DecodeError, Struct, json

from goalwright.models.model_check import ModelProblem
from goalwright_planner import errors
from goalwright_planner.errors import ModelError, Transient
from goalwright_planner.model import Reply, Request, Usage

if TYPE_CHECKING:
    from goalwright_skills.errors import GoalwrightError

T = TypeVar("T")

_LENGTH = struct.Struct(">I")
_MAX_LENGTH = 256 * 2**20
_ERRORS = {kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type)}


class Setup(Struct, tag=True):
    """The first message: the environment of the calls with all keys, the settings for models, and models to check."""

    env: list[tuple[bytes, bytes]]
    api_base: str | None
    call_timeout: float
    capabilities: str
    check: list[str]


class Ready(Struct, tag=True):
    """The answer to `Setup`: the process is ready; the problem of each checked model, if it has one."""

    pid: int
    problems: list[ModelProblem | None]


class ModelCall(Struct, tag=True):
    """A call to make; with `stream`, its answer is also sent in pieces."""

    id: int
    model: str
    request: Request
    stream: bool

    @classmethod
    def of(cls, number: int, model: str, request: Request) -> ModelCall:
        """The call, without the parts of its request that only this process can use."""
        sent = replace(request, on_text=None, on_progress=None, key="", about=None)
        return cls(number, model, sent, request.on_text is not None)


class CallCancel(Struct, tag=True):
    """Cancels a call."""

    id: int


class CallText(Struct, tag=True):
    """A piece of an answer."""

    id: int
    text: str


class CallReply(Struct, tag=True):
    """The answer to a call."""

    id: int
    reply: Reply


class CallFailure(Struct, tag=True):
    """The error of a failed call, with its usage and cost."""

    id: int
    kind: str
    message: str
    hint: str = ""
    model: str = ""
    retry_after: float | None = None
    usage: Usage = Usage()
    cost: float | None = 0.0

    @classmethod
    def of(cls, number: int, error: GoalwrightError) -> CallFailure:
        """The message for an error."""
        model, retry_after = getattr(error, "model", ""), getattr(error, "retry_after", None)
        failure = cls(number, type(error).__name__, error.message, error.hint, model, retry_after)
        if isinstance(error, ModelError):
            failure.usage, failure.cost = error.usage, error.cost
        return failure

    @property
    def error(self) -> ModelError:
        """The error; an unknown class becomes a ModelError."""
        kind = _ERRORS.get(self.kind, ModelError)
        error = (kind if issubclass(kind, ModelError) else ModelError)(self.message, hint=self.hint, model=self.model)
        if isinstance(error, Transient):
            error.retry_after = self.retry_after
        error.usage, error.cost = self.usage, self.cost
        return error


class Beat(Struct, tag=True):
    """A heartbeat, sent every few seconds while calls are in flight."""


TO_PROCESS: json.Decoder[Setup | ModelCall | CallCancel] = json.Decoder(Setup | ModelCall | CallCancel)
FROM_PROCESS: json.Decoder[Ready | CallText | CallReply | CallFailure | Beat] = json.Decoder(
    Ready | CallText | CallReply | CallFailure | Beat
)


def frame(message: Struct) -> bytes:
    """Encode a message, preceded by its length."""
    try:
        body = json.encode(message)
    except UnicodeEncodeError as error:
        raise ModelError(f"a text cannot be sent: {error}", hint="remove the invalid character") from error
    return _LENGTH.pack(len(body)) + body


async def read(reader: asyncio.StreamReader, decoder: json.Decoder[T]) -> T | None:
    """Read the next message; None if the other end is closed or sends anything else."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return decoder.decode(await reader.readexactly(length)) if length <= _MAX_LENGTH else None
    except (asyncio.IncompleteReadError, OSError, DecodeError):
        return None
