"""Prompts, and calls of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft_planner.model import Message, Reply, Role


@dataclass(frozen=True, slots=True)
class PromptMade:
    """A prompt was rendered from its template with these variables."""

    role: Role
    task: str | None
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """What a model needs is loaded before its first call: a library, or the embedded model."""

    model: str
    what: str


@dataclass(frozen=True, slots=True)
class ModelLoaded:
    """A model can be called."""

    model: str
    what: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request was sent to a model; `request` is the hash by which its reply is found.

    `about` is a hash of what the prompt was made from, whatever the words.
    """

    role: Role
    task: str | None
    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    request: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A call failed for a passing reason; it is retried after `wait` seconds."""

    role: Role
    task: str | None
    model: str
    attempt: int
    wait: float
    reason: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A model answered."""

    role: Role
    task: str | None
    model: str
    reply: Reply
    seconds: float
    request: str = ""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A call failed and is not retried."""

    role: Role
    task: str | None
    model: str
    error: str
    seconds: float
    request: str = ""


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """A piece of a streamed answer arrived."""

    role: Role
    task: str | None
    text: str
