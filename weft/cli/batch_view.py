"""How far a batch is: a live view on a terminal, a plain line every few seconds otherwise."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from planner.events import CallRetried, Event
from weft.batch.batch import Watch
from weft.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.batch.goals import BatchGoal
    from weft.batch.pooled import Traffic
    from weft.batch.summary import Summary
    from weft.cli.options import Voice

_EVERY = 5.0


class View(Watch):
    """Keeps what there is to say: goals under way, retries, rate."""

    def __init__(self, summary: Summary, traffic: Traffic) -> None:
        self._summary = summary
        self._traffic = traffic
        self._running: dict[str, float] = {}
        self._retries = 0
        self._began = time.monotonic()

    def began(self, goal: BatchGoal) -> float:
        """A goal begins."""
        self._running[goal.id] = time.monotonic()
        return self._running[goal.id]

    def ended(self, goal: BatchGoal, began: float) -> None:
        """A goal ended."""
        self._running.pop(goal.id, None)

    def note(self, event: Event) -> None:
        """Count what is worth counting."""
        self._retries += isinstance(event, CallRetried)

    def line(self) -> str:
        """Everything in one line."""
        summary, seconds = self._summary, time.monotonic() - self._began
        done = summary.ended + summary.skipped
        rate = summary.ended / seconds if seconds else 0.0
        left = (summary.goals - done) / rate if rate else 0.0
        cost = "cost unknown" if summary.cost is None else f"${summary.cost:.4f}"
        slowest = max(self._running.items(), key=lambda item: -item[1], default=None)
        parts = [
            f"{done}/{summary.goals} goals",
            f"{rate:.1f}/s",
            f"{len(self._running)} under way",
            f"{self._traffic.pool.under_way} of {int(self._traffic.pool.limit)} calls",
            f"{self._retries} retries",
            cost,
            f"{summary.statuses['failed']} failed",
        ]
        if rate:
            parts.append(f"about {left:.0f} s left")
        if slowest is not None:
            parts.append(f"slowest {slowest[0]} {time.monotonic() - slowest[1]:.0f} s")
        return " · ".join(parts)


class _Lines(View):
    """Says the line every few seconds, when something happens."""

    _last = 0.0

    def note(self, event: Event) -> None:
        super().note(event)
        if time.monotonic() - max(self._last, self._began) >= _EVERY:
            self._last = time.monotonic()
            output.say(self.line())


@contextmanager
def watching(voice: Voice, summary: Summary, traffic: Traffic) -> Iterator[Watch]:
    """Whom to tell of a batch's events."""
    if voice.quiet:
        yield Watch()
    elif not output.is_terminal():
        yield _Lines(summary, traffic)
    else:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        view = View(summary, traffic)

        def draw() -> Group:
            bar = ProgressBar(total=max(summary.goals, 1), completed=summary.ended + summary.skipped, width=60)
            return Group(bar, Text(view.line()))

        console = Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
        with Live(console=console, get_renderable=draw, refresh_per_second=4):
            yield view
