"""A chat without a terminal: goals come line by line, and each answer is printed."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from weft.cli import execution
from weft.cli.chat import commands
from weft.cli.view import output
from weft.cli.view.progress import progress
from weft.runs.goal import Goal
from weft.runs.stop import Stop
from weft.runs.stored.requests import approve_all
from weft_planner.events import Event, RunResumed, RunStarted
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.cli.chat.chat import Chat
    from weft_executor.history.result import Result

_LONGEST = 200_000


async def talk(chat: Chat, first: Goal | str | None, *, resume: bool, allow_all: bool) -> int:
    """Take goals from stdin until it ends; returns the exit status of the last turn."""
    if resume:
        await _shown(chat, "resume", allow_all=allow_all)
    for text in _texts(first):
        try:
            following = await _asked(chat, text) if isinstance(text, str) else text
            if following is None:
                continue
            result = await _shown(chat, following, allow_all=allow_all)
        except commands.Quit:
            break
        except WeftError as error:
            said = {"code": error.code, "status": error.exit_status, "as_json": chat.mode.as_json}
            chat.status = output.say_error(error.message, error.hint, **said, indent=None)  # type: ignore[arg-type]
            continue
        if (result is not None and result.status == "interrupted") or not output.has_reader():
            break
    return chat.status


async def _asked(chat: Chat, text: str) -> Goal | str | None:
    return await (commands.carry_out(chat, text) if text.startswith("/") else chat.goal(text))


def _texts(first: Goal | str | None) -> Iterator[Goal | str]:
    if first is not None:
        yield first
    while line := sys.stdin.readline(_LONGEST):
        if line.strip():
            yield line.strip()


async def _shown(chat: Chat, following: Goal | str, *, allow_all: bool) -> Result | None:
    """Run a turn, or continue the last one, and print how it ended."""
    stop = Stop()
    run_ids: list[str] = []
    exit_now = partial(execution.exit_while_stopping, chat.weft, run_ids, chat.target)
    with execution.interruptible(stop, exit_now), progress(chat.mode) as view:

        def record(event: Event) -> None:
            if isinstance(event, RunStarted | RunResumed):
                run_ids.append(event.run_id)
            view.note(event)

        approve = approve_all if allow_all else None
        if isinstance(following, Goal):
            result: Result | None = await chat.turn(following, record, stop, approve)
        else:
            result = await chat.resume(record, stop, approve)
    if result is not None:
        chat.show(result)
        execution.say_kept(result, chat.resume_command(result), chat.weft.settings)
    return result
