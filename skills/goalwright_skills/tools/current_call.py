"""The call in progress: its key, and the person behind the run whom its tool may ask."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_KEY: ContextVar[str] = ContextVar("call", default="")


def current_call() -> str:
    """Return the key of the current call, which stays the same when a resumed run repeats it; empty outside a run."""
    return _KEY.get()


@contextmanager
def calling(key: str) -> Iterator[None]:
    """Set the key of the current call within the block."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


FormAction = Literal["accept", "decline"]


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question of a tool: a form described by a JSON schema or, with a `url`, a page to open and confirm."""

    server: str
    message: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """A person's answer: the values of the form, or that they decline."""

    action: FormAction
    content: Mapping[str, Any] = field(default_factory=dict)


class Person(Protocol):
    """A person who can be asked. Each method raises if nobody answers now, so that the run waits."""

    async def fill_in(self, question: FormQuestion) -> FormAnswer:
        """Return the answer to a question; the same question of the same call is asked once."""

    async def log_in(self, server: str, why: str, command: str) -> bool:
        """Wait until the person has logged in at a server; False if they refuse."""

    async def logged_in(self, server: str) -> None:
        """Note that a login succeeded, so that its question is withdrawn."""

    def hear(self, server: str, text: str) -> None:
        """Show a server's progress message; it is not recorded."""


_PERSON: ContextVar[Person | None] = ContextVar("person", default=None)


def current_person() -> Person | None:
    """Return the person to ask about the current call; None if there is none."""
    return _PERSON.get()


@contextmanager
def asking(person: Person | None) -> Iterator[None]:
    """Let tools ask this person within the block."""
    token = _PERSON.set(person)
    try:
        yield
    finally:
        _PERSON.reset(token)
