"""The commands of a chat, which begin with `/`."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.chat import page
from goalwright.interfaces.cli.dialogs import plan_review
from goalwright.interfaces.cli.hints import hint_for
from goalwright.interfaces.cli.view import output, whole_file
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.text.formatting import counted, cut, dollars

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright.runs.conversations.conversation import TakenBack
    from goalwright.runs.conversations.stored_turns import StoredTurn
    from goalwright.runs.goal import Goal
    from goalwright_executor.history.result import Result
    from goalwright_planner.plan.plan import Plan

COMMANDS = {
    "/plan": "show the last plan; /plan GOAL makes one, /plan edit and /plan run continue it",
    "/skills": "the skills of the last turn: selected, used, and why",
    "/model": "show the model, or use another: /model NAME",
    "/files": "the files of the next turn",
    "/cost": "the cost of this conversation",
    "/tasks": "the tasks of the last turn",
    "/why": "the instruction and the result of a task: /why TASK",
    "/retry": "continue the last turn, or run it again if it is done",
    "/undo": "undo the last turn and its file changes",
    "/save": "write the last answer to a file: /save FILE",
    "/open": "show the conversation in a browser",
    "/clear": "begin another conversation",
    "/help": "this list",
    "/quit": "leave",
}
_MAX_TEXT = 2_000
_MAX_TURNS = 1_000


class Quit(Exception):
    """Raised to leave the chat."""


async def execute(chat: Chat, text: str) -> Goal | str | None:
    """Execute a command, and return what to run next: a goal, or `resume` for the last turn."""
    name, _, argument = text.strip().partition(" ")
    command = _FUNCTIONS.get(name)
    if command is None:
        raise InputError(f"there is no command {name!r}", hint="/help lists them; a goal does not begin with /")
    return await command(chat, argument.strip())


async def _plan(chat: Chat, argument: str) -> Goal | None:
    from goalwright.runs.plans import plan_file

    if argument == "run":
        if chat.planned is None:
            raise InputError("there is no plan to run", hint="make one with /plan GOAL")
        (goal, plan), chat.planned = chat.planned, None
        return replace(await chat.goal(goal), plan=plan)
    if argument == "edit":
        goal, plan = chat.planned or _last_plan(chat)
        text = await plan_review.in_editor(plan_file.dump(plan, "yaml", goal))
        seen = await asyncio.to_thread(chat.conversation.seen)
        names = chat.goalwright.workspace.known(seen.earlier_ids)
        chat.planned = goal, plan_file.parse(text, "as edited", names).plan
    elif argument:
        turn = await asyncio.to_thread(chat.conversation.as_next, await chat.goal(argument))
        chat.planned = argument, await chat.goalwright.plan(turn)
    goal, plan = chat.planned or _last_plan(chat)
    output.say(plan_review.drawn(plan))
    if chat.planned is not None:
        output.say("/plan run runs it, /plan edit changes it.")
    return None


def _last_plan(chat: Chat) -> tuple[str, Plan]:
    result = _last(chat)
    if result.plan is None or not result.plan.tasks:
        raise InputError("the last turn has no plan: it was answered at once", hint="make one with /plan GOAL")
    return result.goal, result.plan.without_grown()


def _last(chat: Chat) -> Result:
    """The result of the last turn."""
    return chat.goalwright.result(_last_turn(chat).run_id)


def _last_turn(chat: Chat) -> StoredTurn:
    if (turn := chat.conversation.last) is None:
        raise InputError("there is no turn yet", hint="type a goal")
    return turn


async def _skills(chat: Chat, _: str) -> None:
    from goalwright.runs.stored import records
    from goalwright_planner.events import SkillsSelected

    result = _last(chat)
    for row in chat.goalwright.journal.store.rows(result.run_id, types=("skills_selected",)):
        event = records.event_of(row, chat.goalwright.paths)
        for selection in event.selections if isinstance(event, SkillsSelected) and event.task is None else ():
            used = ", used" if selection.name in result.skills_used else ""
            certain = ", certain" if selection.certain else ""
            output.say(f"{selection.name}  {selection.score:.2f}{certain}{used}: {cut(selection.reason, 200)}")
    if not result.skills:
        output.say("No skill was selected.")


async def _model(chat: Chat, argument: str) -> None:
    if argument:
        chat.use_model(argument)
    output.say(f"Model: {chat.goalwright.settings.model or 'the default'}")


async def _files(chat: Chat, _: str) -> None:
    (_seen, files) = chat.conversation.stored.next_turn(chat.conversation.id, 1_000)
    for path in dict.fromkeys((*chat.base.files, *files)):
        output.say(str(path))
    if not files and not chat.base.files:
        output.say("No files. Add one with @path in a goal.")


async def _cost(chat: Chat, _: str) -> None:
    turns = list(chat.goalwright.journal.store.summaries(_MAX_TURNS, conversation=chat.conversation.id))
    costs = [turn.cost_usd for turn in turns]
    total = "unknown" if None in costs else dollars(sum(cost or 0.0 for cost in costs))
    seconds = sum(turn.seconds or 0.0 for turn in turns)
    output.say(f"{counted(len(turns), 'turn')}, {total}, {seconds:.0f} s")


async def _tasks(chat: Chat, _: str) -> None:
    result = _last(chat)
    for task in result.tasks:
        output.say(f"{task.status:9} {task.id}  {task.action_type}{f' {task.name}' if task.name else ''}")
    if not result.tasks:
        output.say("The last turn has no tasks: it was answered at once.")


async def _why(chat: Chat, argument: str) -> None:
    result = _last(chat)
    task = next((task for task in result.tasks if task.id == argument), None)
    if task is None:
        names = ", ".join(task.id for task in result.tasks) or "none"
        raise InputError(f"the last turn has no task {argument!r}; its tasks are: {names}", hint="/why TASK")
    planned = result.plan.task(task.id) if result.plan is not None and task.id in result.plan else None
    output.say(f"{task.id}: {task.status}, {counted(task.attempts, 'attempt')}, {task.seconds:.1f} s")
    if planned is not None:
        output.say(f"waits for: {', '.join(planned.depends_on) or 'nothing'}")
        output.say(f"instruction: {cut(planned.instruction, _MAX_TEXT)}")
    if task.error:
        output.say(f"error: {cut(task.error, _MAX_TEXT)}")
    if task.output:
        output.say(f"result: {cut(task.output, _MAX_TEXT)}")
    output.say(f"More: {output.program()} trace show {result.run_id} --task {task.id}")


async def _retry(chat: Chat, _: str) -> Goal | str:
    turn = _last_turn(chat)
    if turn.status != "done":
        return "resume"
    goal = await asyncio.to_thread(chat.conversation.goal_of, turn)
    _say_unrestored(await chat.conversation.take_back())
    return replace(goal, stream=chat.base.stream)


async def _undo(chat: Chat, _: str) -> None:
    taken = await chat.conversation.take_back()
    output.say(f"Undid turn {taken.turn.number}: {cut(taken.turn.goal, 60)}")
    _say_unrestored(taken)


def _say_unrestored(taken: TakenBack) -> None:
    for path in taken.left:
        output.say(f"not restored, because it has changed since: {path}")


async def _save(chat: Chat, argument: str) -> None:
    if not argument:
        raise InputError("name a file", hint="/save FILE")
    text = _last(chat).answer
    if text is None:
        raise InputError("the last turn has no answer", hint="/retry continues it")
    path = Path(os.path.expanduser(argument))  # noqa: ASYNC240, PTH111 - a lookup of the home folder
    try:
        await asyncio.to_thread(whole_file.write, path, text if text.endswith("\n") else f"{text}\n")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}", hint="name another file") from error
    output.say(f"Wrote {path}")


async def _open(chat: Chat, _: str) -> None:
    turn = _last_turn(chat)
    if chat.page is None:
        address = (await asyncio.to_thread(page.write_file, chat.goalwright, turn.run_id)).as_uri()
    else:
        address = await asyncio.to_thread(chat.page.address, chat.conversation.id)
    if await asyncio.to_thread(page.show, address):
        output.say(f"Opened {address.partition('#')[0]}")
    else:
        output.say(f"The page is {address}")


async def _clear(chat: Chat, _: str) -> None:
    output.say(f"A new conversation. To continue the last one: {chat.continue_command()}")
    chat.clear()


async def _help(_: Chat, __: str) -> None:
    for name, description in COMMANDS.items():
        output.say(f"{name:8} {description}")
    output.say(
        "@path adds a file, @server:uri a resource, $name a skill; !text is a remark for tasks that have not begun."
    )
    output.say("Esc Enter, or \\ at the end, begins a new line. Ctrl-C stops the turn; pressed twice, it leaves.")


async def _quit(_: Chat, __: str) -> None:
    raise Quit


_FUNCTIONS: dict[str, Callable[[Chat, str], Awaitable[Goal | str | None]]] = {
    "/plan": _plan, "/skills": _skills, "/model": _model, "/files": _files, "/cost": _cost, "/tasks": _tasks,
    "/why": _why, "/retry": _retry, "/undo": _undo, "/save": _save, "/open": _open, "/clear": _clear, "/help": _help,
    "/quit": _quit, "/exit": _quit,
}  # fmt: skip


def say_error(error: GoalwrightError) -> None:
    """Print an error; the chat continues."""
    hint = hint_for(error)
    output.say(f"error: {error.message}" + (f"\n{hint}" if hint else ""))
