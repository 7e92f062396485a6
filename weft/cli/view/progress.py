"""Progress: a live view of the graph on a terminal, calm lines otherwise."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from planner.events import (
    CallFailed,
    Event,
    SkillLoaded,
    ToolCalled,
    ToolLogged,
)
from weft.cli.view import output, width
from weft.cli.view.event_text import describe
from weft.cli.view.heartbeat import EVERY, LONGEST, Heartbeat, beating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner.events import Record
    from weft.cli.view.output_mode import OutputMode


_INDENT = 11  # of the time in front of a line


@contextmanager
def progress(mode: OutputMode, *, graph: bool = True) -> Iterator[Record]:
    """Where to hand events while a run goes on; without a graph to draw there are lines on a terminal too."""
    if mode.quiet:
        yield _only_warnings
    elif graph and output.is_terminal() and not mode.verbose and not mode.as_json:
        from weft.cli.view.live import LiveView

        with LiveView() as view:
            yield view.note
    else:
        lines = ProgressLines(verbose=mode.verbose)
        with beating(lines.beat):
            yield lines.note


def _only_warnings(event: Event) -> None:
    """Quiet means no progress; what goes wrong stands in the result."""


class ProgressLines:
    """A line for each thing that happens."""

    def __init__(self, *, verbose: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._verbose = verbose
        self._clock = clock
        self._began = self._said = clock()
        self._patience = EVERY / 2
        self._pulse = Heartbeat(clock)

    def note(self, event: Event) -> None:
        """Say what is worth a line."""
        self._pulse.note(event)
        if (text := self._text(event)) is not None:
            self._patience = EVERY / 2
            self._say(text)

    def beat(self) -> None:
        """Say what is under way, unless something was said a moment ago; less often the longer it lasts."""
        if self._clock() - self._said >= self._patience and (text := self._pulse.text()) is not None:
            self._patience = min(2 * self._patience + EVERY / 2, LONGEST)
            self._say(text)

    def _say(self, text: str) -> None:
        self._said = self._clock()
        output.say(width.wrapped(f"{self._said - self._began:7.1f} s  {text}", width.of(sys.stderr), _INDENT))

    def _text(self, event: Event) -> str | None:
        match event:
            case SkillLoaded() | ToolCalled() | ToolLogged() if not self._verbose:
                return None
            case SkillLoaded():
                return f"{event.task}: skill {event.name} loaded"
            case ToolLogged():
                said = " ".join((event.log + " " + event.stderr).split())[:300]
                return f"tool {event.name} wrote: {said}" if said else None
            case CallFailed() if self._verbose:  # else it is said once: with its task, or as the run's error
                return f"{event.task or event.role}: {event.error}"
            case ToolCalled():
                return f"{event.task}: tool {event.name}: {event.envelope['status']}"
            case _:
                return describe(event)
