"""The live view: the graph as it runs, redrawn in place."""

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
    PlanMade,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TextStreamed,
)
from weft.cli.view.event_text import describe
from weft.cli.view.output import shown

if TYPE_CHECKING:
    from types import TracebackType

    from planner.plan.plan import Task

_MARKS = {
    "pending": ("·", "dim"),
    "running": ("▶", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "skipped": ("–", "yellow"),
    "cancelled": ("■", "yellow"),
}
_TALL = 30


@dataclass(slots=True)
class _Row:
    task: Task
    state: str = "pending"
    began: float = 0.0
    seconds: float = 0.0
    tokens: int = 0

    def drawn(self) -> tuple[Text, Text, Text, Text, Text]:
        mark, style = _MARKS[self.state]
        seconds = time.monotonic() - self.began if self.state == "running" else self.seconds
        after = f"  ← {', '.join(self.task.depends_on)}" if self.task.depends_on else ""
        title = Text(shown(self.task.title or self.task.id)) + Text(after, style="dim")
        return (
            Text(mark, style=style),
            title,
            Text(self.task.name or self.task.action_type, style="magenta"),
            Text(f"{seconds:.1f} s" if self.began else ""),
            Text(f"{self.tokens:,}" if self.tokens else "", style="dim"),
        )


class LiveView:
    """Draws tasks with their state, skill, seconds and tokens; other news scrolls by above."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
        self._rows: dict[str, _Row] = {}
        self._doing = "looking for skills"
        self._began = time.monotonic()
        self._written = ""
        self._live = Live(console=self._console, get_renderable=self._draw, refresh_per_second=8, transient=False)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)  # else its thread draws first, and a line printed meanwhile leaves that frame
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._doing = self._written = ""
        self._live.__exit__(kind, error, trace)

    def note(self, event: Event) -> None:
        """Take an event into the picture."""
        match event:
            case CallStarted(role="decomposer"):
                self._doing = f"planning with {event.model}"
            case CallStarted(role="synthesis"):
                self._doing = f"writing the answer with {event.model}"
            case PlanMade():
                self._doing = "running"
                self._rows = {task.id: _Row(task) for task in event.plan.tasks}
            case TaskStarted():
                row = self._rows[event.task]
                row.state, row.began = "running", time.monotonic()
            case TaskFinished():
                row = self._rows[event.task]
                row.state, row.seconds = event.status, event.seconds
                if event.error and event.status == "failed":
                    self._console.print(Text(shown(f"{event.task}: {event.error}"), style="red"))
            case TaskReused():
                self._rows[event.task].state = "done"
            case CallFinished(task=str(task)) if task in self._rows:
                self._rows[task].tokens += event.reply.usage.tokens
            case TextStreamed():
                self._written += event.text
            case _:
                self._tell(event)

    def _tell(self, event: Event) -> None:
        if (text := describe(event)) is not None:
            self._console.print(Text(shown(text), style="dim"))

    def _draw(self) -> Group:
        table = Table.grid(padding=(0, 2))
        rows = sorted(self._rows.values(), key=lambda row: row.state == "done") if len(self._rows) > _TALL else []
        for row in rows[:_TALL] or self._rows.values():
            table.add_row(*row.drawn())
        lines = [table]
        if self._doing:
            seconds = time.monotonic() - self._began
            return Group(
                *lines, Text(f"{self._doing} … {seconds:.0f} s", style="dim"), Text(shown(self._written[-2000:]))
            )
        return Group(*lines)
