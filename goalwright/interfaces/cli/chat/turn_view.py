"""The turn that runs, as lines above the prompt."""

from __future__ import annotations

import os
import time
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console

from goalwright.interfaces.cli.view.event_text import describe
from goalwright.interfaces.cli.view.live.run_frame import frame
from goalwright.interfaces.cli.view.live.run_state import RunState
from goalwright.interfaces.cli.view.output import escape_controls
from goalwright_planner.events import RunFinished, TaskFinished, Warned

if TYPE_CHECKING:
    from goalwright_planner.events import Event

# Lines that the prompt, and what is typed there, take.
_BELOW = 3
_SAME = 0.2  # seconds for which a drawing stands


class TurnView:
    """Takes the events of a turn, and draws how it stands; warnings and failures are kept for after its end."""

    def __init__(self) -> None:
        self._state = RunState()
        self.said: list[str] = []
        self._drawn: tuple[float, int, int, str] = (float("-inf"), 0, 0, "")

    def note(self, event: Event) -> None:
        """Take an event into account."""
        if isinstance(event, RunFinished):
            return
        self._state.note(event)
        if isinstance(event, Warned) or (isinstance(event, TaskFinished) and event.status == "failed"):
            text = describe(event) or (f"{event.task}: {event.error}" if isinstance(event, TaskFinished) else "")
            if text:
                self.said.append(escape_controls(text))

    def drawn(self, width: int, height: int) -> str:
        """The lines for a terminal of this size, with its codes for colours; the prompt asks several times a frame."""
        at, *size, text = self._drawn
        now = time.monotonic()
        if size != [width, height] or now - at >= _SAME:
            text = self._draw(width, height)
            self._drawn = now, width, height, text
        return text

    def _draw(self, width: int, height: int) -> str:
        room = max(height - _BELOW, 2)
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
