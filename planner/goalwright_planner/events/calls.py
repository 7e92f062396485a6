"""Prompts, and calls of models."""

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
    """What a model needs is loaded before its first call: a library, or the embedded model."""

    model: str
    what: str


class ModelLoaded(Event, frozen=True):
    """A model can be called."""

    model: str
    what: str
    seconds: float


class CallStarted(Event, frozen=True):
    """A request was sent to a model; `request` is the hash by which its reply is found.

    `about` is a hash of what the prompt was made from, whatever the words.
    """

    role: Role
    task: str | None
    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    request: Hash = ""
    about: Hash = ""


class CallRetried(Event, frozen=True):
    """A call failed for a passing reason; it is retried after `wait` seconds."""

    role: Role
    task: str | None
    model: str
    attempt: int
    wait: float
    reason: str


class CallBroken(Event, frozen=True):
    """An attempt at a call broke off after it was sent; `usage` and `cost` are an estimate of what it took.

    The call itself may still end well, at another attempt. `cost` is None if the price is unknown.
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
    """How far a local model's answer is: the tokens of its prompt, and those written. It is not recorded."""

    role: Role
    task: str | None
    prompt_tokens: int
    written: int


class TextStreamed(Event, frozen=True):
    """A piece of a streamed answer arrived."""

    role: Role
    task: str | None
    text: str
