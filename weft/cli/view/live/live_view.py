"""The live view: the task graph while it runs, redrawn in place and never taller than the terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from planner.events import Event, ModelLoaded, ModelLoading, PlanMade, TaskFinished, TaskReused, TaskStarted
from weft.cli.view.event_text import describe
from weft.cli.view.live.run_frame import frame
from weft.cli.view.live.run_state import RunState
from weft.cli.view.output import escape_controls

if TYPE_CHECKING:
    from types import TracebackType


class LiveView:
    """Draws the tasks with their state, skill, seconds and tokens; other events scroll by above."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
        self._state = RunState()
        self._live = Live(console=self._console, get_renderable=self._draw, refresh_per_second=8, transient=False)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)  # or a line printed before its thread first draws would leave a stale frame
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._state.activity = self._state.streamed = ""
        self._live.__exit__(kind, error, trace)

    def note(self, event: Event) -> None:
        """Take an event into account."""
        self._state.note(event)
        match event:
            case TaskFinished(status="failed", error=str(error)):
                self._console.print(Text(escape_controls(f"{event.task}: {error}"), style="red"))
            case PlanMade() | TaskStarted() | TaskFinished() | TaskReused() | ModelLoading() | ModelLoaded():
                pass  # the frame shows them
            case _:
                if (text := describe(event)) is not None:
                    self._console.print(Text(escape_controls(text), style="dim"))

    def _draw(self) -> Group:
        # The last line stays free: the cursor stands there after each frame.
        return Group(*frame(self._state, self._console.width, max(self._console.height - 1, 2)))
