"""How many tokens a run's calls have read and written so far, and how fast, where a model tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.events import CallFailed, CallFinished, CallProgressed

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.events import Event

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
