"""Prompts and model calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goalwright_planner.events.event import Event, Hash
from goalwright_planner.model import Message, Reply, Role, Usage


class PromptMade(Event, frozen=True):
    """A prompt was rendered from its template with these variables."""

    role: Role
    task: str | None
    variables: Mapping[str, Any]


class ModelLoading(Event, frozen=True):
    """A library or the embedded model is being loaded before the first call of a model."""

    model: str
    what: str


class ModelLoaded(Event, frozen=True):
    """A model was loaded and can be called."""

    model: str
    what: str
    seconds: float


class CallStarted(Event, frozen=True):
    """A request was sent to a model; `request` is the hash under which its reply is found.

    `about` is a hash of the prompt's variables, which does not depend on the prompt's wording.
    """

    role: Role
    task: str | None
    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    request: Hash = ""
    about: Hash = ""


class CallRetried(Event, frozen=True):
    """A call failed for a transient reason; it is retried after `wait` seconds."""

    role: Role
    task: str | None
    model: str
    attempt: int
    wait: float
    reason: str


class CallBroken(Event, frozen=True):
    """An attempt at a call failed after it was sent; `usage` and `cost` are estimates.

    Another attempt may still succeed. `cost` is None if the price is unknown.
    """

    role: Role
    task: str | None
    model: str
    usage: Usage
    cost: float | None
    reason: str = ""
    request: Hash = ""


class CallFinished(Event, frozen=True):
    """A model answered."""

    role: Role
    task: str | None
    model: str
    reply: Reply
    seconds: float
    request: Hash = ""


class CallFailed(Event, frozen=True):
    """A call failed and is not retried."""

    role: Role
    task: str | None
    model: str
    error: str
    seconds: float
    request: Hash = ""


class CallProgressed(Event, frozen=True):
    """The progress of a local model's answer, in tokens of the prompt and tokens written. It is not recorded."""

    role: Role
    task: str | None
    prompt_tokens: int
    written: int


class TextStreamed(Event, frozen=True):
    """A piece of a streamed answer arrived."""

    role: Role
    task: str | None
    text: str
