"""Shows the progress of a batch: a live view on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goalwright.batch.runner import BatchObserver
from goalwright.interfaces.cli.view import output
from goalwright.interfaces.cli.view.heartbeat import beating
from goalwright.traces.wording import spent
from goalwright_planner.events import CallBroken, CallFinished, CallRetried, Event, ModelLoaded, ModelLoading
from goalwright_planner.model import Usage
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, Group

    from goalwright.batch.engine import Pace
    from goalwright.batch.goals import BatchGoal
    from goalwright.batch.summary import BatchSummary
    from goalwright.interfaces.cli.view.output import OutputMode

_INTERVAL = 5.0
_SLOWEST = 3
# The rate covers the last goals only, so that an outage does not distort it for long.
_RECENT = 100


class BatchProgress(BatchObserver):
    """Tracks running goals, retries, the rate and the cost."""

    def __init__(
        self, summary: BatchSummary, pace: Callable[[], Pace], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.summary = summary
        self._pace = pace
        self._clock = clock
        self._running: dict[str, float] = {}
        self._retries = 0
        self._usage = Usage()
        self._cost: float | None = 0.0
        self._ends = deque([clock()], maxlen=_RECENT)
        self._loading: dict[str, str] = {}

    def began(self, goal: BatchGoal) -> float:
        """Record the start of a goal."""
        self._running[goal.id] = self._clock()
        return self._running[goal.id]

    def ended(self, goal: BatchGoal, began: float) -> None:
        """Record the end of a goal."""
        self._running.pop(goal.id, None)
        self._ends.append(self._clock())

    def note(self, event: Event) -> None:
        """Count retries, tokens and cost, and track models that are loading."""
        match event:
            case ModelLoading():
                self._loading[event.model] = event.what
            case ModelLoaded():
                self._loading.pop(event.model, None)
            case CallRetried():
                self._retries += 1
            case CallFinished(reply=reply):
                self._spend(reply.usage, reply.cost)
            case CallBroken():
                self._spend(event.usage, event.cost)
            case _:
                pass

    def _spend(self, usage: Usage, cost: float | None) -> None:
        self._usage += usage
        self._cost = None if self._cost is None or cost is None else self._cost + cost

    def say(self, text: str) -> None:
        """Print a warning about the whole batch."""
        output.say_warning(text)

    @property
    def over(self) -> int:
        """The number of goals with a result, from this run and earlier ones."""
        return self.summary.ended + self.summary.skipped

    def line(self) -> str:
        """Return the whole progress in one line."""
        return " · ".join([f"{self.over:,}/{counted(self.summary.goals, 'goal')}", *self.pace(), *self.costs()])

    def pace(self) -> Iterator[str]:
        """Yield the rate, the time left and the running goals."""
        rate = (len(self._ends) - 1) / max(self._clock() - self._ends[0], 1e-9)
        if rate:
            yield f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min"
        if rate and (left := self.summary.goals - self.over) > 0:
            yield f"about {duration(left / rate)} left"
        now = self._pace()
        limit = f", at most {now.limit} now" if now.limit < now.most else ""
        goals, calls = counted(len(self._running), "goal"), counted(now.calls, "call")
        yield f"{goals} running ({calls}{limit})" if self._running or self.over else "starting"
        if self._loading:
            yield f"loading {', '.join(dict.fromkeys(self._loading.values()))}"
        if now.workers:
            yield now.workers
        for pause in now.pauses:
            if pause.seconds > 1.0:
                reason = "is down" if pause.is_down else "asked for a pause"
                yield f"{pause.model} {reason}: continues in {duration(pause.seconds)}"

    def costs(self) -> Iterator[str]:
        """Yield cost, tokens, retries, failures and the slowest goals."""
        _, tokens, cost = spent(self._usage, self._cost)
        yield cost
        yield tokens
        if self._retries:
            yield counted(self._retries, "retry", "retries")
        for status in ("failed", "partial", "waiting"):
            if number := self.summary.statuses[status]:
                yield f"{number:,} {status}"
        if slow := sorted(self._running.items(), key=lambda item: item[1])[:_SLOWEST]:
            yield "slowest: " + ", ".join(f"{name} {duration(self._clock() - began)}" for name, began in slow)


def duration(seconds: float) -> str:
    """Format a duration: 8 s, 2 min 5 s, 3 h 20 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def watching(mode: OutputMode, summary: BatchSummary, pace: Callable[[], Pace]) -> Iterator[BatchObserver]:
    """Yield an observer that shows the progress of the batch within the block."""
    view = BatchProgress(summary, pace)
    if mode.quiet:
        yield BatchObserver()
    elif not output.is_terminal():
        with beating(lambda: output.say(view.line()), _INTERVAL):
            yield view
    else:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
        with Live(console=console, get_renderable=lambda: render(view, console), refresh_per_second=4, transient=True):
            yield view


def render(view: BatchProgress, console: Console) -> Group:
    """Return a progress bar with figures below it; it is erased before the report."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    goals = view.summary.goals
    bar = ProgressBar(total=max(goals, 1), completed=view.over, width=min(60, max(console.width - 30, 10)))
    share = f"{view.over:,}/{counted(goals, 'goal')}  {view.over / max(goals, 1):.0%}"
    head = Table.grid(padding=(0, 1))
    head.add_row(bar, Text(share, style="bold"))
    return Group(
        head, Text(" · ".join(view.pace())), Text(output.escape_controls(" · ".join(view.costs())), style="dim")
    )
