"""The key of the call that a tool is making: the same when a resumed run makes it again."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_KEY: ContextVar[str] = ContextVar("call", default="")


def current_call() -> str:
    """The key of the current call; empty outside a run."""
    return _KEY.get()


@contextmanager
def calling(key: str) -> Iterator[None]:
    """Within the block, the current call has this key."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


FormAction = Literal["accept", "decline"]


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """What a tool asks: a form by its JSON schema, or, with a `url`, to open a page and say when that is done."""

    server: str
    message: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """What a person said: the values of the form, or that they do not answer."""

    action: FormAction
    content: Mapping[str, Any] = field(default_factory=dict)


class Person(Protocol):
    """Who can be asked. Each method raises, so that the run waits, if nobody answers now."""

    async def fill_in(self, question: FormQuestion) -> FormAnswer:
        """The answer to a question; the same question of the same call is asked once."""

    async def log_in(self, server: str, why: str, command: str) -> bool:
        """Wait until somebody has logged in at a server; False if they refuse."""

    async def logged_in(self, server: str) -> None:
        """Say that a login was enough, so that nobody is asked for it any more."""

    def hear(self, server: str, text: str) -> None:
        """What a server says while it works: for those who watch, not for the record."""


_PERSON: ContextVar[Person | None] = ContextVar("person", default=None)


def current_person() -> Person | None:
    """Who can be asked about the current call; None if nobody ever can."""
    return _PERSON.get()


@contextmanager
def asking(person: Person | None) -> Iterator[None]:
    """Within the block, tools ask this person."""
    token = _PERSON.set(person)
    try:
        yield
    finally:
        _PERSON.reset(token)
