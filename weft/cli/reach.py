"""What all commands that carry out runs share: progress, Ctrl-C, the end, the exit status."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from skills.errors import InputError
from skills.plural import counted
from weft.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from executor.ledger import Result
    from planner.events import Record
    from weft.cli.options import Voice
    from weft.run import Weft
    from weft.stop import Stop

EXIT = {"done": 0, "partial": 1, "failed": 1, "clarification": 1, "stopped": 5, "interrupted": 130}


class Work(Protocol):
    """A run to carry out, once it has someone to tell and something to stop it."""

    async def __call__(self, *, record: Record, stop: Stop) -> Result:
        """Carry it out."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is needed to show how a run ended."""

    voice: Voice
    workspace: Path
    target: Path | None = None


def leave(status: int) -> None:
    """End the program now: everything is kept, and nobody who asked for the end waits for what cannot be stopped.

    These are threads that load a library or wait for a model, and the clean-up of a model that is at work.
    """
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def carry_out(run: Coroutine[Any, Any, Result], ending: Ending, leaving: Callable[[int], None] = leave) -> int:
    """Carry out a run and show how it ended; gives the exit status. One that was interrupted ends the program here."""

    async def whole() -> int:
        result = await run
        status = shown(result, ending)
        if result.status == "interrupted":
            leaving(status)
        return status

    return asyncio.run(whole())


async def carried(weft: Weft, voice: Voice, work: Work) -> Result:
    """Carry out a run with progress on stderr; Ctrl-C ends it cleanly."""
    from weft.cli.progress import progress
    from weft.stop import Stop

    stop = Stop()
    _on_interrupt(stop)
    async with weft:
        with progress(voice) as record:
            return await work(record=record, stop=stop)


def shown(result: Result, ending: Ending) -> int:
    """Print how a run ended, and where it can be taken up again the command for it; gives the exit status."""
    from weft.cli import answer

    voice, workspace, target = ending.voice, ending.workspace, ending.target
    if target is not None and result.answer is not None:
        try:
            target.write_text(result.answer + "\n", encoding="utf-8")
        except OSError as error:
            output.say_warning(f"the answer could not be written to {target}: {error.strerror}; here it is")
            target = None
    if voice.as_json:
        output.print_json(result.to_dict())
    else:
        answer.show(result, target, quiet=voice.quiet)
    if result.status in ("interrupted", "stopped", "failed", "partial"):
        done = sum(task.status == "done" for task in result.tasks)
        tasks = f"{done} of {counted(len(result.tasks), 'task')}" if result.tasks else "the goal"
        kept = f"{tasks} and {counted(result.usage.calls, 'call')}"
        output.say(f"Kept: {kept}. Go on with:")
        output.say(f"  {_command(result, workspace)}")
    return EXIT[result.status]


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


def _command(result: Result, workspace: Path) -> str:
    parts = ["weft", "resume", result.run_id]
    if str(workspace) != ".":
        parts += ["--workspace", str(workspace)]
    if result.journal and str(workspace.resolve()) not in result.journal:
        parts += ["--journal", result.journal]
    return shlex.join(parts)


def _on_interrupt(stop: Stop) -> None:
    """The first Ctrl-C ends the run cleanly; a second one ends the program at once."""
    loop = asyncio.get_running_loop()

    def first() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)
        output.say("\nstopping … (Ctrl-C again to stop at once)")

    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGINT, first)
        loop.add_signal_handler(signal.SIGTERM, first)
