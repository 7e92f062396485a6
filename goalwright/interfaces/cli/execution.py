"""Run a goal for a command: show progress, handle Ctrl-C, print the result and choose the exit status."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from goalwright.interfaces.cli.resume_command import raised_limit, resuming
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stop import Stop
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record

    Reviewed = Callable[[Callable[[], AbstractContextManager[None]]], "RunFunction"]

EXIT = {"done": 0, "partial": 1, "failed": 1, "stopped": 5, "waiting": 6, "interrupted": 130}


class RunFunction(Protocol):
    """Run a goal until it ends or `stop` is set; `record` gets its events, `approve` its requests."""

    async def __call__(self, *, record: Record, stop: Stop, approve: Approve | None) -> Result:
        """Run to the end."""


@dataclass(frozen=True, slots=True)
class ResultOutput:
    """How to show a run's result. The `settings` go into the command that resumes the run.

    With `changes_plan`, the exit status is 1 if the plan did not change, even if the run is done.
    """

    mode: OutputMode
    workspace: Path
    target: ResultTarget | None = None
    settings: Settings | None = None
    changes_plan: bool = False


def exit_now(status: int) -> None:
    """Exit immediately; finished work is on disk.

    Threads that import a library or wait for a model cannot be stopped, nor can the clean-up of a busy model.
    """
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def run_to_exit(
    run: Coroutine[Any, Any, Result], shown: ResultOutput, exit_program: Callable[[int], None] = exit_now
) -> int:
    """Run, show the result and return the exit status; exits the program if interrupted."""

    async def run_and_show() -> int:
        result = await run
        status = show_result(result, shown)
        if result.status == "interrupted":
            exit_program(status)
        return status

    return asyncio.run(run_and_show())


async def run_with_progress(
    goalwright: Goalwright,
    mode: OutputMode,
    run: RunFunction,
    *,
    approve_all: bool = False,
    reviewed: Reviewed | None = None,
    target: ResultTarget | None = None,
) -> Result:
    """Run with progress on stderr; requests are asked at the terminal, Ctrl-C stops the run cleanly.

    `reviewed` makes a run that shows its plan first, from a function that pauses the progress. The `target` of the
    answer goes into the command that resumes the run.
    """
    from goalwright.interfaces.cli.dialogs.approval_prompt import approver
    from goalwright.interfaces.cli.view.progress import progress
    from goalwright.runs.stop import Stop
    from goalwright_planner.events import Event, RunResumed, RunStarted

    stop = Stop()
    run_ids: list[str] = []

    with interruptible(stop, lambda: exit_while_stopping(goalwright, run_ids, target)):
        async with goalwright:
            with progress(mode) as view:

                def record(event: Event) -> None:
                    if isinstance(event, RunStarted | RunResumed):
                        run_ids.append(event.run_id)
                    view.note(event)

                approve = approver(mode, view.paused, allow=approve_all, log_in=partial(_log_in, goalwright))
                if reviewed is not None:
                    run = reviewed(view.paused)
                return await run(record=record, stop=stop, approve=approve)


async def _log_in(goalwright: Goalwright, server: str) -> bool:
    """Log in to an MCP server of a run's workspace; prints a warning if that fails."""
    from goalwright.interfaces.cli.commands.mcp.login import log_in
    from goalwright.interfaces.cli.commands.mcp.servers import open_tools
    from goalwright.interfaces.cli.hints import hint_for
    from goalwright_skills.mcp.entry import McpFault

    try:
        await asyncio.to_thread(log_in, open_tools(goalwright.paths.workspace).mcp, server)
    except McpFault as fault:
        output.say_warning(f"{fault.message}; {hint_for(fault)}")
        return False
    return True


def show_result(result: Result, shown: ResultOutput) -> int:
    """Print a run's result and the command that resumes it; returns the exit status."""
    from goalwright.interfaces.cli.view import answer
    from goalwright_planner.events.run import PLAN_NOT_CHANGED

    mode, workspace = shown.mode, shown.workspace
    resume = resuming(result.run_id, workspace, result.journal, shown.settings, shown.target)
    target = write_answer(result, shown.target, workspace)
    if mode.as_json:
        output.print_json(result.to_dict())
        answer.show_waiting(result, resume)
    else:
        answer.show(result, target, resume, workspace, quiet=mode.quiet)
    if result.status == "done" and output.is_terminal() and not (mode.as_json or mode.quiet):
        _say_next_steps(result, workspace)
    say_kept(result, resume, shown.settings)
    not_changed = shown.changes_plan and result.code == PLAN_NOT_CHANGED and result.status == "done"
    return 1 if not_changed else EXIT[result.status]


def say_kept(result: Result, resume: Sequence[str], settings: Settings | None) -> None:
    """Print the kept work of an unfinished run, and the command that resumes it."""
    if result.status not in ("interrupted", "stopped", "failed", "partial"):
        return
    done = sum(task.status == "done" for task in result.tasks)
    tasks = f"{done} of {counted(len(result.tasks), 'task')}" if result.tasks else "the goal"
    output.say(f"Kept: {tasks}, after {counted(result.usage.calls, 'call')}. Resume with:")
    output.say(f"  {shlex.join([*resume, *raised_limit(result, settings)])}")


def write_answer(result: Result, target: ResultTarget | None, workspace: Path) -> ResultTarget | None:
    """Write the answer and artifacts to -o; returns None if that fails, so that the answer is printed."""
    if target is not None and (result.answer is not None or result.artifacts):
        try:
            for artifact in target.write(result, workspace):
                output.say_warning(f"an artifact is not in {target}: {artifact}")
        except (OSError, InputError) as error:
            why = error.strerror if isinstance(error, OSError) else error.message
            output.say_warning(f"cannot write the answer to {target}: {why}; printing it instead")
            return None
    return target


def _say_next_steps(result: Result, workspace: Path) -> None:
    """Print the next steps after the first run of a workspace."""
    from goalwright.runs.stored import records
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings

    paths, settings = Paths.of(workspace, os.environ), Settings()
    if result.journal != records.url(paths, settings):
        return
    with suppress(GoalwrightError, OSError), closing(records.recorded_runs(paths, settings)) as store:
        if len(list(store.summaries(2))) == 1:
            name = output.program()
            output.say(f"Next: `{name} trace show` shows how it went, `{name} serve` shows it in a browser,")
            output.say(f'      `{name} run --after last "…"` follows up on the answer.')


@contextmanager
def interruptible(stop: Stop, exit_program: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C stop the run and the second one exit the program."""
    if sys.platform == "win32":
        yield
        return
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)

    def stop_run(received: int) -> None:
        stop.set(by_user=received == signal.SIGINT)
        output.say("\nStopping … (press Ctrl-C again to exit now)")
        for number in signals:
            loop.remove_signal_handler(number)
            signal.signal(number, lambda *_: exit_program())  # not a loop handler: the loop may be busy

    for number in signals:
        loop.add_signal_handler(number, stop_run, number)
    try:
        yield
    finally:
        if not stop.is_set():
            for number in signals:
                loop.remove_signal_handler(number)


@contextmanager
def exiting(exit_program: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C exit the program; nothing is kept, and a model's clean-up could take long."""
    before = signal.signal(signal.SIGINT, lambda *_: exit_program())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def exit_while_stopping(goalwright: Goalwright, run_ids: list[str], target: ResultTarget | None) -> None:
    """Exit while a run is still stopping; its finished work is recorded."""
    output.say("Stopped.")
    if run_ids:
        from goalwright.runs.stored import records

        journal = records.url(goalwright.paths, goalwright.settings)
        command = resuming(run_ids[-1], goalwright.paths.workspace, journal, goalwright.settings, target)
        output.say(f"Finished work is kept. Resume with:\n  {shlex.join(command)}")
    exit_now(130)
