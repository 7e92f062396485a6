"""Plain fakes for parts that tests do not need."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import msgspec

from goalwright_planner.model import Reply, Request, Role, Usage
from goalwright_planner.prompting.profile import FULL, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.events import AnyEvent, Event

Kind = TypeVar("Kind")
REPORTED = Usage(1, 100, 10)


@dataclass
class ScriptedModel:
    """Answers by a function and records requests; the task `unanswered` waits forever.

    It reports `usage` for replies without it, as providers do, because estimates take a sixth of a run's time.
    """

    script: Callable[[Request], Reply | Exception]
    name: str = "scripted"
    asked: list[Request] = field(default_factory=list)
    unanswered: str | None = None
    usage: Usage = REPORTED

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        if request.task is not None and request.task == self.unanswered:
            await asyncio.Event().wait()
        answer = self.script(request)
        if isinstance(answer, Exception):
            raise answer
        return msgspec.structs.replace(answer, usage=self.usage) if answer.usage == Usage(calls=1) else answer

    def for_role(self, role: Role, called: str | None = None) -> ScriptedModel:
        return self

    def named(self, name: str) -> ScriptedModel:
        return self

    async def ready(self, role: Role) -> None:
        """Do nothing."""

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        return FULL


def saying(*replies: Reply | Exception | str) -> ScriptedModel:
    """Return a model that gives these replies in order and repeats the last one."""
    left = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]
    return ScriptedModel(lambda _: left.pop(0) if len(left) > 1 else left[0])


@dataclass
class Recorder:
    """Records events."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: AnyEvent) -> AnyEvent:
        self.events.append(event)
        return event

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]
