"""Live views of a run: the task graph on stderr, or as lines above the prompt of a chat."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from goalwright.interfaces.cli.view.event_text import describe
from goalwright.interfaces.cli.view.live.run_frame import frame
from goalwright.interfaces.cli.view.live.run_state import RunState
from goalwright.interfaces.cli.view.output import escape_controls
from goalwright_planner.events import (
    ApprovalGiven,
    Event,
    ModelLoaded,
    ModelLoading,
    PlanMade,
    RunFinished,
    TaskFinished,
    TaskReused,
    TaskStarted,
    Warned,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

# Lines kept free for the prompt and its input.
_PROMPT_LINES = 3
_REUSE = 0.2  # seconds for which a drawing is reused


class LiveView:
    """Draws the tasks, never taller than the terminal; other events scroll by above."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr, no_color=bool(os.environ.get("NO_COLOR")))
        self._state = RunState()
        self._held: list[Text] | None = None
        self._live = self._new_live()

    def _new_live(self) -> Live:
        return Live(console=self._console, get_renderable=self._draw, refresh_per_second=8, transient=False)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)  # a line printed before its thread first draws would leave a stale frame
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._state.activity = self._state.streamed = ""
        if not self._state.rows:
            self._live.transient = True  # without tasks the last frame shows nothing but the time
        self._live.__exit__(error_type, error, trace)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hide the view within the block, and print the lines of the block after its end."""
        self._live.transient = True  # erase the view; it is drawn again below the question
        self._live.stop()
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            self._live = self._new_live()
            self._live.start(refresh=True)
            for text in held:
                self._console.print(text)

    def note(self, event: Event) -> None:
        """Take an event into account."""
        self._state.note(event)
        match event:
            case TaskFinished(status="failed", error=str(error)):
                self._say(f"{event.task}: {error}", "red")
            case PlanMade() | TaskStarted() | TaskFinished() | TaskReused() | ModelLoading() | ModelLoaded():
                pass  # the frame shows them
            case ApprovalGiven(withdrawn=False):
                pass  # the person who gave it knows
            case _:
                if (text := describe(event)) is not None:
                    self._say(text, "dim")

    def _say(self, text: str, style: str) -> None:
        line = Text(escape_controls(text), style=style)
        if self._held is not None:
            self._held.append(line)
        else:
            self._console.print(line)

    def _draw(self) -> Group:
        # The last line stays free for the cursor.
        return Group(*frame(self._state, self._console.width, max(self._console.height - 1, 2)))


class TurnView:
    """Draws a turn above the prompt; `messages` has its warnings and failures, to be printed after its end."""

    def __init__(self) -> None:
        self._state = RunState()
        self.messages: list[str] = []
        self._drawn: tuple[float, int, int, str] = (float("-inf"), 0, 0, "")

    def note(self, event: Event) -> None:
        """Take an event into account."""
        if isinstance(event, RunFinished):
            return
        self._state.note(event)
        if isinstance(event, Warned) or (isinstance(event, TaskFinished) and event.status == "failed"):
            text = describe(event) or (f"{event.task}: {event.error}" if isinstance(event, TaskFinished) else "")
            if text:
                self.messages.append(escape_controls(text))

    def drawn(self, width: int, height: int) -> str:
        """Return the lines with colour codes for a terminal of this size; cached, because the prompt asks often."""
        drawn_at, *size, text = self._drawn
        now = time.monotonic()
        if size != [width, height] or now - drawn_at >= _REUSE:
            text = self._draw(width, height)
            self._drawn = now, width, height, text
        return text

    def _draw(self, width: int, height: int) -> str:
        room = max(height - _PROMPT_LINES, 2)
        console = Console(
            file=StringIO(),
            width=width,
            force_terminal=True,
            no_color=bool(os.environ.get("NO_COLOR")),
            highlight=False,
            legacy_windows=False,
        )
        lines = frame(self._state, width, room)
        for line in lines:
            console.print(line, overflow="ellipsis", no_wrap=True, crop=True)
        file = console.file
        return file.getvalue() if isinstance(file, StringIO) else ""
