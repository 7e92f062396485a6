"""A line now and then while nothing else is said, so that whoever waits knows what for."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from planner.events import CallFailed, CallFinished, CallStarted, Event, TaskFinished, TaskStarted
from skills.text.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY = 15.0
LONGEST = 55.0
_MOST = 3
_DOING = {"decomposer": "planning", "synthesis": "writing the answer", "detector": "selecting skills"}


class Heartbeat:
    """Knows from the events what is under way, and since when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tasks: dict[str, float] = {}
        self._calls: dict[str, tuple[str, float]] = {}

    def note(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case TaskStarted():
                self._tasks[event.task] = self._clock()
            case TaskFinished():
                self._tasks.pop(event.task, None)
            case CallStarted(role=role, model=model) if role in _DOING:
                self._calls[role] = (f"{_DOING[role]} with {model}", self._clock())
            case CallFinished(role=role) | CallFailed(role=role):
                self._calls.pop(role, None)
            case _:
                pass

    def text(self) -> str | None:
        """What is under way, and for how long; None where nothing is."""
        now = self._clock()
        parts = [f"{doing} for {now - began:.0f} s" for doing, began in self._calls.values()]
        if self._tasks:
            slowest = sorted(self._tasks.items(), key=lambda item: item[1])[:_MOST]
            named = ", ".join(f"{task} for {now - began:.0f} s" for task, began in slowest)
            more = ", …" if len(self._tasks) > _MOST else ""
            parts.append(f"{counted(len(self._tasks), 'task')} under way: {named}{more}")
        return "; ".join(parts) or None


@contextmanager
def beating(beat: Callable[[], None], seconds: float = EVERY) -> Iterator[None]:
    """Call `beat` every so many seconds for as long as the block lasts; for use where an event loop runs."""
    loop = asyncio.get_running_loop()
    handle: asyncio.TimerHandle

    def again() -> None:
        nonlocal handle
        beat()
        handle = loop.call_later(seconds, again)

    handle = loop.call_later(seconds, again)
    try:
        yield
    finally:
        handle.cancel()
