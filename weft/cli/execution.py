"""What all commands that carry out runs share: progress, Ctrl-C, the end, the exit status."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from skills.errors import InputError
from skills.text.plural import counted
from weft.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from executor.history.result import Result
    from planner.events import Record
    from weft.cli.view.output_mode import OutputMode
    from weft.runs.runtime import Weft
    from weft.runs.stop import Stop

EXIT = {"done": 0, "partial": 1, "failed": 1, "clarification": 1, "stopped": 5, "interrupted": 130}


class Work(Protocol):
    """A run to carry out, once it has someone to tell and something to stop it."""

    async def __call__(self, *, record: Record, stop: Stop) -> Result:
        """Carry it out."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is needed to show how a run ended; `given` is what `weft run` was given, for the one who must answer."""

    mode: OutputMode
    workspace: Path
    target: Path | None = None
    given: tuple[str, ...] = ()


def leave(status: int) -> None:
    """End the program now: everything is kept, and nobody who asked for the end waits for what cannot be stopped.

    These are threads that load a library or wait for a model, and the clean-up of a model that is at work.
    """
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def run_to_exit(run: Coroutine[Any, Any, Result], ending: Ending, leaving: Callable[[int], None] = leave) -> int:
    """Carry out a run and show how it ended; gives the exit status. One that was interrupted ends the program here."""

    async def whole() -> int:
        result = await run
        status = show_result(result, ending)
        if result.status == "interrupted":
            leaving(status)
        return status

    return asyncio.run(whole())


async def run_with_progress(weft: Weft, mode: OutputMode, work: Work) -> Result:
    """Carry out a run with progress on stderr; Ctrl-C ends it cleanly."""
    from planner.events import Event, RunResumed, RunStarted
    from weft.cli.view.progress import progress
    from weft.runs.stop import Stop

    stop = Stop()
    begun: list[str] = []

    with interruptible(stop, lambda: _at_once(weft, begun)):
        async with weft:
            with progress(mode) as tell:

                def record(event: Event) -> None:
                    if isinstance(event, RunStarted | RunResumed):
                        begun.append(event.run_id)
                    tell(event)

                return await work(record=record, stop=stop)


def show_result(result: Result, ending: Ending) -> int:
    """Print how a run ended, and where it can be taken up again the command for it; gives the exit status."""
    from weft.cli.view import answer

    mode, workspace, target = ending.mode, ending.workspace, ending.target
    if target is not None and result.answer is not None:
        try:
            target.write_text(result.answer + "\n", encoding="utf-8")
        except OSError as error:
            output.say_warning(f"the answer could not be written to {target}: {error.strerror}; here it is")
            target = None
    try:
        if mode.as_json:
            output.print_json(result.to_dict())
        else:
            answer.show(result, target, _answering(result, ending), quiet=mode.quiet)
    except BrokenPipeError:
        output.forget_stdout()  # how it ended is told all the same, by the exit status too
    if result.status in ("interrupted", "stopped", "failed", "partial"):
        done = sum(task.status == "done" for task in result.tasks)
        tasks = f"{done} of {counted(len(result.tasks), 'task')}" if result.tasks else "the goal"
        kept = f"{tasks} and {counted(result.usage.calls, 'call')}"
        output.say(f"Kept: {kept}. Go on with:")
        output.say(f"  {_command(result.run_id, workspace, result.journal)}")
    return EXIT[result.status]


def _answering(result: Result, ending: Ending) -> str:
    """The command that gives the answer: the same once more, for all else that it was given still counts."""
    from executor.capture.secrets import Secrets

    again = ending.given
    if not again:
        elsewhere = ("--workspace", str(ending.workspace)) if str(ending.workspace) != "." else ()
        again = (*elsewhere, "--", result.goal)
    return Secrets.of(os.environ).redact(f"weft run --answer TEXT {shlex.join(again)}")


def writable(target: Path | None) -> None:
    """Find out before anything is spent whether the answer can be kept."""
    if target is None:
        return
    folder = target.absolute().parent
    if target.is_dir():
        raise InputError(f"-o {target} is a folder", hint="name a file in it")
    if not folder.is_dir():
        raise InputError(f"-o {target}: there is no folder {folder}", hint="make it, or name another file")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise InputError(f"-o {target} cannot be written", hint="name a file elsewhere, or change its permissions")


def _command(run_id: str, workspace: Path, journal: str | None) -> str:
    from weft.runs import records
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings

    parts = ["weft", "resume", run_id]
    if workspace.resolve() != Path.cwd():
        parts += ["--workspace", str(workspace)]
    if journal and journal != records.url(Paths.of(workspace, os.environ), Settings()):
        parts += ["--journal", journal]
    return shlex.join(parts)


@contextmanager
def interruptible(stop: Stop, at_once: Callable[[], None]) -> Iterator[None]:
    """While the block lasts, the first Ctrl-C asks the run to end and a second one ends the program at once."""
    if sys.platform == "win32":
        yield
        return
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)

    def first() -> None:
        stop.set()
        output.say("\nstopping … (Ctrl-C again to stop at once)")
        for one in signals:
            loop.remove_signal_handler(one)
            signal.signal(one, lambda *_: at_once())  # not the loop's: the loop may be what takes so long

    for one in signals:
        loop.add_signal_handler(one, first)
    try:
        yield
    finally:
        if not stop.is_set():
            for one in signals:
                loop.remove_signal_handler(one)


def _at_once(weft: Weft, begun: list[str]) -> None:
    """End the program while a run is still being ended; what it finished is on record."""
    output.say("stopped")
    if begun:
        from weft.runs import records

        journal = records.url(weft.paths, weft.settings)
        output.say(f"What was finished is kept. Go on with:\n  {_command(begun[-1], weft.paths.workspace, journal)}")
    leave(130)
