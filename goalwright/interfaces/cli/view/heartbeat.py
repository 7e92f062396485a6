"""Prints an occasional line during silence, so that the user sees what a run is waiting for."""

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

INTERVAL = 15.0  # seconds between two beats
MAX_SILENCE = 55.0  # seconds
_MAX_NAMED = 3
_ACTIVITIES = {
    "decomposer": "planning",
    "replanner": "changing the plan",
    "synthesis": "writing the answer",
    "detector": "selecting skills",
}

_Call = tuple[str, str | None]


class TokenCount:
    """Counts the tokens of a run's calls; the speed covers the time since the last `text()`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._running: dict[_Call, tuple[int, int]] = {}
        self._finished_tokens = 0
        self._last: tuple[float, int] | None = None

    @property
    def is_reported(self) -> bool:
        """Whether any running call reports its progress."""
        return bool(self._running)

    def note(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case CallProgressed():
                self._last = self._last or (self._clock(), 0)
                self._running[event.role, event.task] = event.prompt_tokens, event.written
            case CallFinished() if (event.role, event.task) in self._running:
                del self._running[event.role, event.task]
                self._finished_tokens += event.reply.usage.completion_tokens
            case CallFailed():
                self._running.pop((event.role, event.task), None)
            case _:
                pass

    def text(self) -> str:
        """Return the tokens being read, the tokens written and the speed; empty if no call reports progress."""
        if not self._running or self._last is None:
            return ""
        reading = sum(prompt for prompt, written in self._running.values() if not written)
        written = self._finished_tokens + sum(written for _, written in self._running.values())
        before, tokens_before = self._last
        now = self._clock()
        self._last = now, written
        speed = max(written - tokens_before, 0) / (now - before) if now > before else 0.0
        prompt_part = [f"reading {reading:,} tokens"] if reading else []
        reply_part = [f"{written:,} tokens written so far, {speed:.1f} a second"] if written else []
        return ", ".join((*prompt_part, *reply_part))


class Heartbeat:
    """Tracks the running tasks and calls of a run, and their start times."""

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
        """Return the running calls and tasks with their durations and tokens; None if there are none."""
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
        """Whether the running calls report their progress."""
        return self._tokens.is_reported


@contextmanager
def beating(beat: Callable[[], None], seconds: float = INTERVAL) -> Iterator[None]:
    """Call `beat` every `seconds` within the block; needs a running event loop."""
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
