"""An occasional line while nothing else is printed, so that the user knows what a run is waiting for."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goalwright_planner.events import (
    CallFailed,
    CallFinished,
    CallProgressed,
    CallStarted,
    Event,
    TaskFinished,
    TaskStarted,
)
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY = 15.0  # seconds between two beats
LONGEST = 55.0  # seconds of silence at most
_MAX_NAMED = 3
_ACTIVITIES = {
    "decomposer": "planning",
    "replanner": "changing the plan",
    "synthesis": "writing the answer",
    "detector": "selecting skills",
}

_Call = tuple[str, str | None]


class TokenCount:
    """Counts the tokens of a run; the speed is that since the last text."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._under_way: dict[_Call, tuple[int, int]] = {}
        self._ended = 0
        self._last: tuple[float, int] | None = None

    @property
    def is_told(self) -> bool:
        """Whether any call under way says how far it is."""
        return bool(self._under_way)

    def note(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case CallProgressed():
                self._last = self._last or (self._clock(), 0)
                self._under_way[event.role, event.task] = event.prompt_tokens, event.written
            case CallFinished() if (event.role, event.task) in self._under_way:
                del self._under_way[event.role, event.task]
                self._ended += event.reply.usage.completion_tokens
            case CallFailed():
                self._under_way.pop((event.role, event.task), None)
            case _:
                pass

    def text(self) -> str:
        """What is being read, how many tokens are written so far, and how many a second; empty if nothing is told."""
        if not self._under_way or self._last is None:
            return ""
        reading = sum(prompt for prompt, written in self._under_way.values() if not written)
        written = self._ended + sum(written for _, written in self._under_way.values())
        before, so_far = self._last
        now = self._clock()
        self._last = now, written
        speed = max(written - so_far, 0) / (now - before) if now > before else 0.0
        read = [f"reading {reading:,} tokens"] if reading else []
        wrote = [f"{written:,} tokens written so far, {speed:.1f} a second"] if written else []
        return ", ".join((*read, *wrote))


class Heartbeat:
    """Tracks what is under way, and since when, from the events of a run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tasks: dict[str, float] = {}
        self._calls: dict[str, tuple[str, float]] = {}
        self._tokens = TokenCount(clock)

    def note(self, event: Event) -> None:
        """Take an event into account."""
        self._tokens.note(event)
        match event:
            case TaskStarted():
                self._tasks[event.task] = self._clock()
            case TaskFinished():
                self._tasks.pop(event.task, None)
            case CallStarted(role=role, task=None, model=model) if role in _ACTIVITIES:
                self._calls[role] = (f"{_ACTIVITIES[role]} with {model}", self._clock())
            case CallFinished(role=role, task=None) | CallFailed(role=role, task=None):
                self._calls.pop(role, None)
            case _:
                pass

    def text(self) -> str | None:
        """What is under way, for how long, and how many tokens there are so far; None if nothing is under way."""
        now = self._clock()
        parts = [f"{activity} for {now - started:.0f} s" for activity, started in self._calls.values()]
        if self._tasks:
            slowest = sorted(self._tasks.items(), key=lambda item: item[1])[:_MAX_NAMED]
            named = ", ".join(f"{task} for {now - started:.0f} s" for task, started in slowest)
            more = ", …" if len(self._tasks) > _MAX_NAMED else ""
            parts.append(f"{counted(len(self._tasks), 'task')} under way: {named}{more}")
        return "; ".join((*parts, *filter(None, [self._tokens.text()]))) if parts else None

    @property
    def counts_tokens(self) -> bool:
        """Whether it is known how far the calls are."""
        return self._tokens.is_told


@contextmanager
def beating(beat: Callable[[], None], seconds: float = EVERY) -> Iterator[None]:
    """Call `beat` at an interval within the block; needs a running event loop."""
    loop = asyncio.get_running_loop()
    handle: asyncio.TimerHandle

    def beat_again() -> None:
        nonlocal handle
        beat()
        handle = loop.call_later(seconds, beat_again)

    handle = loop.call_later(seconds, beat_again)
    try:
        yield
    finally:
        handle.cancel()
