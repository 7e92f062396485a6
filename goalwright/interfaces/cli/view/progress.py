"""Shows the progress of a run: a live view of the graph on a terminal, otherwise plain lines."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Protocol

from goalwright.interfaces.cli.view import output, width
from goalwright.interfaces.cli.view.event_text import caller, describe
from goalwright.interfaces.cli.view.heartbeat import INTERVAL, MAX_SILENCE, Heartbeat, beating
from goalwright.traces.wording import shortened_text
from goalwright_planner.events import (
    CallFailed,
    Event,
    SkillLoaded,
    SkillShortened,
    ToolCalled,
    ToolLogged,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright.interfaces.cli.view.output import OutputMode


_INDENT = 11  # the width of the time before each line
_COUNTER_REDRAW, _COUNTER_LINE = 0.1, 10.0  # seconds
_CLEAR = "\r\x1b[K"


class ProgressView(Protocol):
    """Shows the events of a run."""

    def note(self, event: Event) -> None:
        """Take an event into account."""

    def paused(self) -> AbstractContextManager[None]:
        """Show nothing within the block, in which a person is asked."""


@contextmanager
def progress(mode: OutputMode, *, graph: bool = True) -> Iterator[ProgressView]:
    """Yield a view of a run's events; without `graph` it prints plain lines on a terminal too."""
    if mode.quiet:
        yield _NoProgress()
    elif graph and output.is_terminal() and not mode.verbose and not mode.as_json:
        from goalwright.interfaces.cli.view.live.live_view import LiveView

        with LiveView() as view:
            yield view
    else:
        lines = ProgressLines(verbose=mode.verbose)
        with beating(lines.beat):
            yield lines


class _NoProgress:
    """Shows nothing, for --quiet; the result reports failures."""

    def note(self, event: Event) -> None:
        """Ignore the event."""

    def paused(self) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()


class ProgressLines:
    """Prints a line for each notable event."""

    def __init__(self, *, verbose: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._verbose = verbose
        self._clock = clock
        self._started = self._last_line = clock()
        self._max_silence = INTERVAL / 2  # seconds of silence before a heartbeat
        self._heartbeat = Heartbeat(clock)
        self._held: list[str] | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Print the lines of the block after its end."""
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for line in held:
                self._say(line)

    def note(self, event: Event) -> None:
        """Print an event if it is notable."""
        self._heartbeat.note(event)
        if (text := self._text(event)) is not None:
            self._max_silence = INTERVAL / 2
            self._print(text)

    def beat(self) -> None:
        """Print the running tasks unless a line was printed recently; less and less often without news."""
        if self._held is not None:
            return
        if self._clock() - self._last_line >= self._max_silence and (text := self._heartbeat.text()) is not None:
            if not self._heartbeat.counts_tokens:
                self._max_silence = min(2 * self._max_silence + INTERVAL / 2, MAX_SILENCE)
            self._print(text)

    def _print(self, text: str) -> None:
        self._last_line = self._clock()
        line = f"{self._last_line - self._started:7.1f} s  {text}"
        if self._held is not None:
            self._held.append(line)
        else:
            self._say(line)

    def _say(self, line: str) -> None:
        output.say(width.wrap(line, width.of(sys.stderr), _INDENT))

    def _text(self, event: Event) -> str | None:
        match event:
            case SkillLoaded() | SkillShortened() | ToolCalled() | ToolLogged() if not self._verbose:
                return None
            case SkillShortened():
                return shortened_text(event)
            case SkillLoaded():
                return f"{event.task}: skill {event.name} loaded"
            case ToolLogged():
                text = " ".join((event.log + " " + event.stderr).split())[:300]
                return f"tool {event.name} wrote: {text}" if text else None
            case CallFailed() if self._verbose:  # otherwise the failed task or the error of the run reports it
                return f"{caller(event.role, event.task)}: {event.error}"
            case ToolCalled():
                return f"{event.task}: tool {event.name}: {event.envelope['status']}"
            case _:
                return describe(event)


@contextmanager
def counter(text: Callable[[int], str], *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield a callback for the number of finished items; `text` formats it as a line, redrawn on a terminal."""
    drawn = output.is_terminal()
    last = time.monotonic()

    def note(done: int) -> None:
        nonlocal last
        if quiet or time.monotonic() - last < (_COUNTER_REDRAW if drawn else _COUNTER_LINE):
            return
        last = time.monotonic()
        if drawn:
            _write(_CLEAR + text(done))
        else:
            output.say(text(done))

    try:
        yield note
    finally:
        if drawn and not quiet:
            _write(_CLEAR)


def _write(text: str) -> None:
    with suppress(BrokenPipeError):
        sys.stderr.write(text)
        sys.stderr.flush()
