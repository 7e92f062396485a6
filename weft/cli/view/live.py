"""The live view: the task graph while it runs, redrawn in place."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from planner.events import (
    CallFinished,
    CallStarted,
    Event,
    PlanChanged,
    PlanMade,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TextStreamed,
)
from weft.cli.view.event_text import describe
from weft.cli.view.output import escape_controls

if TYPE_CHECKING:
    from types import TracebackType

    from planner.plan.plan import Task

_MARKS = {
    "pending": ("·", "dim"),
    "running": ("▶", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "skipped": ("–", "yellow"),
    "unneeded": ("○", "dim"),
    "cancelled": ("■", "yellow"),
}
_MAX_ROWS = 30


@dataclass(slots=True)
class _Row:
    task: Task
    state: str = "pending"
    started: float = 0.0
    seconds: float = 0.0
    tokens: int = 0

    def cells(self) -> tuple[Text, Text, Text, Text, Text]:
        mark, style = _MARKS[self.state]
        seconds = time.monotonic() - self.started if self.state == "running" else self.seconds
        dependencies = f"  ← {', '.join(self.task.depends_on)}" if self.task.depends_on else ""
        title = Text(escape_controls(self.task.title or self.task.id)) + Text(dependencies, style="dim")
        return (
            Text(mark, style=style),
            title,
            Text(self.task.name or self.task.action_type, style="magenta"),
            Text(f"{seconds:.1f} s" if self.started else ""),
            Text(f"{self.tokens:,}" if self.tokens else "", style="dim"),
        )


class LiveView:
    """Draws the tasks with their state, skill, seconds and tokens; other events scroll by above."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
        self._rows: dict[str, _Row] = {}
        self._activity = "selecting skills"
        self._started = time.monotonic()
        self._streamed = ""
        self._live = Live(console=self._console, get_renderable=self._draw, refresh_per_second=8, transient=False)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)  # or a line printed before its thread first draws would leave a stale frame
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._activity = self._streamed = ""
        self._live.__exit__(kind, error, trace)

    def note(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case CallStarted(role="decomposer"):
                self._activity = f"planning with {event.model}"
            case CallStarted(role="synthesis"):
                self._activity = f"writing the answer with {event.model}"
            case PlanMade():
                self._activity = "running"
                self._rows = {task.id: _Row(task) for task in event.plan.tasks}
            case PlanChanged():
                self._change(event)
            case TaskStarted():
                row = self._rows[event.task]
                row.state, row.started = "running", time.monotonic()
            case TaskFinished():
                row = self._rows[event.task]
                row.state, row.seconds = event.status, event.seconds
                if event.error and event.status == "failed":
                    self._console.print(Text(escape_controls(f"{event.task}: {event.error}"), style="red"))
            case TaskReused():
                self._rows[event.task].state = "done"
            case CallFinished(task=str(task)) if task in self._rows:
                self._rows[task].tokens += event.reply.usage.tokens
            case TextStreamed():
                self._streamed += event.text
            case _:
                self._print(event)

    def _change(self, event: PlanChanged) -> None:
        for task_id in event.dropped:
            self._rows.pop(task_id, None)
        self._rows |= {task.id: _Row(task) for task in event.added}
        self._print(event)

    def _print(self, event: Event) -> None:
        if (text := describe(event)) is not None:
            self._console.print(Text(escape_controls(text), style="dim"))

    def _draw(self) -> Group:
        table = Table.grid(padding=(0, 2))
        rows = sorted(self._rows.values(), key=lambda row: row.state == "done") if len(self._rows) > _MAX_ROWS else []
        for row in rows[:_MAX_ROWS] or self._rows.values():
            table.add_row(*row.cells())
        if not self._activity:
            return Group(table)
        activity = Text(f"{self._activity} … {time.monotonic() - self._started:.0f} s", style="dim")
        return Group(table, activity, Text(escape_controls(self._streamed[-2000:])))
