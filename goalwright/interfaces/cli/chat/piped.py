"""A chat without a terminal: every line of stdin is a goal, and each answer is printed."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from goalwright.interfaces.cli import execution
from goalwright.interfaces.cli.chat import commands
from goalwright.interfaces.cli.hints import hint_for
from goalwright.interfaces.cli.view import output
from goalwright.interfaces.cli.view.progress import progress
from goalwright.runs.goal import Goal
from goalwright.runs.goal_length import LONGEST, too_long
from goalwright.runs.stop import Stop
from goalwright.runs.stored.requests import approve_all
from goalwright_planner.events import Event, RunResumed, RunStarted
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright_executor.history.result import Result


async def talk(chat: Chat, first: Goal | str | None, *, resume: bool, allow_all: bool) -> int:
    """Run goals from stdin until it ends, and return the exit status of the last turn."""
    if resume and not await _continues(chat, _run_turn(chat, "resume", allow_all=allow_all)):
        return chat.status
    for text in _lines(first):
        if not await _continues(chat, _run_line(chat, text, allow_all=allow_all)):
            break
    return chat.status


async def _continues(chat: Chat, turn: Awaitable[Result | None]) -> bool:
    """Await a turn or a command, and return whether to read on; an error is printed and does not end the chat."""
    try:
        result = await turn
    except commands.Quit:
        return False
    except GoalwrightError as error:
        chat.status = output.say_error(
            error.message,
            hint_for(error),
            code=error.code,
            status=error.exit_status,
            as_json=chat.mode.as_json,
            indent=None,
        )
        return True
    return (result is None or result.status != "interrupted") and output.has_reader()


async def _run_line(chat: Chat, text: Goal | str | InputError, *, allow_all: bool) -> Result | None:
    """Execute a command or run a goal; raises the error of an invalid line."""
    if isinstance(text, InputError):
        raise text
    next_turn = await _goal_or_command(chat, text) if isinstance(text, str) else text
    return await _run_turn(chat, next_turn, allow_all=allow_all) if next_turn is not None else None


async def _goal_or_command(chat: Chat, text: str) -> Goal | str | None:
    return await (commands.execute(chat, text) if text.startswith("/") else chat.goal(text))


def _lines(first: Goal | str | None) -> Iterator[Goal | str | InputError]:
    """Yield the first goal and the lines of stdin; for a line that is too long, its error."""
    if first is not None:
        yield first
    while line := sys.stdin.readline(LONGEST + 1):
        if len(line) > LONGEST and not line.endswith("\n"):
            yield too_long(len(line) + _rest_of_line())
        elif line.strip():
            yield line.strip()


def _rest_of_line() -> int:
    """Read and drop the rest of a line, and return its length."""
    length = 0
    while piece := sys.stdin.readline(LONGEST):
        length += len(piece.rstrip("\n"))
        if piece.endswith("\n"):
            break
    return length


async def _run_turn(chat: Chat, next_turn: Goal | str, *, allow_all: bool) -> Result | None:
    """Run a turn, or continue the last one, and print its result."""
    stop = Stop()
    run_ids: list[str] = []
    exit_now = partial(execution.exit_while_stopping, chat.goalwright, run_ids, chat.target)
    with execution.interruptible(stop, exit_now), progress(chat.mode) as view:

        def record(event: Event) -> None:
            if isinstance(event, RunStarted | RunResumed):
                run_ids.append(event.run_id)
            view.note(event)

        approve = approve_all if allow_all else None
        if isinstance(next_turn, Goal):
            result: Result | None = await chat.turn(next_turn, record, stop, approve)
        else:
            result = await chat.resume(record, stop, approve)
    if result is not None:
        chat.show(result)
        execution.say_kept(result, chat.resume_command(result), chat.goalwright.settings)
    return result
