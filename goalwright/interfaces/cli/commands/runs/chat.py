"""`goalwright chat`: talk with goalwright, turn by turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, goal_source, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.dialogs import recipe_trust, terminal
from goalwright.interfaces.cli.view import output, result_target
from goalwright_skills.errors import InputError
from goalwright_skills.text.plural import counted
from goalwright_skills.text.shorten import cut

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.goal_source import SourceFlags
    from goalwright.interfaces.cli.options import GoalFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright


@click.command(cls=SectionedCommand)
@click.argument("goal", required=False)
@click.argument("values", nargs=-1, metavar="")
@click.option("--continue", "go_on", is_flag=True, help="Continue with the last conversation of the workspace.")
@click.option("--conversation", metavar="ID", help="Continue with this conversation: its id, or a prefix of it.")
@options.models
@options.yes
@options.strict_skills
@options.trust
@options.approve_all
@options.goal
@goal_source.source
@options.cache
@options.stream_plan
@options.replans
@options.powers
@options.skill_choice
@result_target.output_option
@options.journal
@options.common
def chat(
    goal: str | None,
    values: tuple[str, ...],
    conversation: str | None,
    workspace: Path,
    goal_flags: GoalFlags,
    source: SourceFlags,
    target: ResultTarget | None,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    go_on: bool,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Have a conversation: each goal is a turn that sees the earlier ones.

    GOAL is the first turn. At a terminal, /help lists the commands; elsewhere every line of stdin is a goal, and each
    answer is printed (with --json, one document per line).

    --plan, --recipe, --after, --answer and --dry-run are for the first turn, --review is for all; -o gets the last
    answer.

    \b
    Examples:
      goalwright chat
      goalwright chat "Compare three caches"
      goalwright chat --continue
      goalwright chat --plan plan.yaml
      goalwright chat --after last "Which of them is the simplest?"
      printf 'What is a DAG?\\nAnd a tree?\\n' | goalwright chat

    Every turn is a run: `goalwright trace`, `goalwright replay` and `goalwright resume` work on it.

    Exit status: that of the last turn, as of `goalwright run`.
    """
    from goalwright.interfaces.cli import model_download, warm_up
    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright.interfaces.cli.chat.page import ConversationPage
    from goalwright.interfaces.cli.commands.runs.run import show_preview
    from goalwright.interfaces.cli.dialogs import first_model, trust_prompt
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.goal import NO_GOAL, Goal
    from goalwright.runs.runtime import Goalwright

    goal = None if goal == "-" else goal  # stdin is read anyway
    if go_on and conversation is not None:
        raise InputError("--continue and --conversation name two conversations", hint="give one of them")
    name = "last" if go_on else conversation
    source.check(goal, values, mode)
    _check_first(goal, goal_flags, source, continues=name is not None)
    if target is not None:
        target.check()
    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    if not source.dry_run:
        yes = first_model.offer(resolved.settings, mode, yes=yes)
    open_model = None if source.dry_run else warm_up.begin(resolved.settings, where)
    goalwright = Goalwright(workspace, resolved.settings, open_model=open_model)
    if not source.dry_run:
        trust_prompt.trust_mcp(goalwright.workspace.tools, trust=trust, quiet=mode.quiet, warn=False)
    if trust:
        recipe_trust.trust_all(goalwright.recipes)
    at_terminal = terminal.can_ask() and not mode.as_json
    base = Goal(".", skills=goal_flags.skills, files=goal_flags.files, stream=at_terminal)
    given = replace(
        base, text=NO_GOAL if goal is None or source.recipe is not None else goal, answers=goal_flags.answers
    )
    seen = Conversation.open(goalwright, name).seen() if name is not None and source.plan_file is not None else None
    given = source.added_to(given, goalwright, (goal, *values) if goal is not None else (), mode, seen)
    if source.dry_run:
        talking = Chat(Conversation.new(goalwright), mode, base, lambda _: None)
        turn = asyncio.run(_first(talking, goal, given, source))
        turn = turn if isinstance(turn, Goal) else given
        return show_preview(goalwright, _as_turn(goalwright, turn, name), mode, indent=None)
    configuration.announce_journal(where, resolved, quiet=mode.quiet)
    trust_prompt.trust_tools(goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
    warm_up.check_keys(goalwright.settings)
    model_download.offer(goalwright.models.names, yes=yes, quiet=mode.quiet)
    asks = at_terminal and goal is None and not source.has_goal
    begun, resumes = _begun(goalwright, name, asks=asks)
    page = ConversationPage(where.workspace, flags.given()) if at_terminal else None
    talking = Chat(begun, mode, base, lambda settings: warm_up.begin(settings, where), page, target)

    first = _first(talking, goal, given, source)
    return asyncio.run(_talk(talking, first, resume=resumes, allow_all=approve_all, reviews=source.review))


async def _talk(
    chat: Chat, first: Awaitable[Goal | str | None], *, resume: bool, allow_all: bool, reviews: bool
) -> int:
    """Talk until there is nothing more to say, at the terminal or by lines; returns the exit status."""
    from goalwright.interfaces.cli.chat import lines

    async with chat.goalwright:
        turn = await first
        if chat.page is None:
            return await lines.talk(chat, turn, resume=resume, allow_all=allow_all)
        from goalwright.interfaces.cli.chat.terminal import TerminalChat

        try:
            await TerminalChat(chat, allow_all, reviews).talk(turn, resume=resume)
        finally:
            await asyncio.to_thread(chat.page.close)
        return chat.status


def _check_first(goal: str | None, flags: GoalFlags, source: SourceFlags, *, continues: bool) -> None:
    """Raise on what the first turn of a chat cannot have."""
    if source.plan_file is not None and str(source.plan_file) == "-":
        hint = "name a file; `goalwright run --plan -` runs a plan from stdin"
        raise InputError("--plan -: the goals of a chat come from stdin", hint=hint)
    if source.after is not None and continues:
        what = "--after begins a conversation; this one goes on, and each turn sees the earlier ones"
        raise InputError(what, hint="leave --after out, or --continue and --conversation")
    if goal is None and not source.has_goal:
        for flag, is_given in {"--after": source.after, "--dry-run": source.dry_run, "--answer": flags.answers}.items():
            if is_given:
                hint = f'for example: {output.program()} chat {flag} … "Compare three caches"'
                if flag == "--answer":
                    hint = f"`{output.program()} resume RUN --answer TEXT` answers what a turn asked"
                raise InputError(f"{flag} is for the first turn, and there is no goal", hint=hint)


async def _first(chat: Chat, typed: str | None, given: Goal, source: SourceFlags) -> Goal | str | None:
    """The first turn: a command, the goal of a plan or recipe, or what was typed, with its files and skills."""
    if typed is None or source.recipe is not None:
        return given if source.has_goal else None
    if typed.startswith("/"):
        return typed
    goal = await chat.goal(typed)
    return replace(given, text=goal.text, skills=goal.skills, files=goal.files)


def _as_turn(goalwright: Goalwright, goal: Goal, name: str | None) -> Goal:
    """The goal as a turn would have it; a new conversation is not looked up, so that no journal is made for it."""
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright_planner.events import ConversationTurn

    if name is not None:
        return Conversation.open(goalwright, name).as_next(goal)
    return replace(goal, conversation=ConversationTurn(Conversation.new(goalwright).id, 1))


def _begun(goalwright: Goalwright, name: str | None, *, asks: bool) -> tuple[Conversation, bool]:
    """The conversation to continue, or a new one, and whether its last turn has to go on."""
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.stored import records

    if name is None and (last := next(goalwright.journal.store.conversations(1), None)) is not None and asks:
        goal = records.local_text(last.goal, last.first, goalwright.paths)
        what = f"“{cut(goal, 50)}”, {counted(last.turns, 'turn')}"
        if last.turns and last.status in ("interrupted", "waiting"):
            ended = "waits for you" if last.status == "waiting" else "was cut off"
            name = (
                last.conversation
                if click.confirm(f"The last conversation ({what}) {ended}. Continue it?", err=True)
                else None
            )
        else:
            output.say(f"The last conversation: {what}. `{output.program()} chat --continue` continues it.")
    if name is None:
        return Conversation.new(goalwright), False
    begun = Conversation.open(goalwright, name)
    turn = begun.last
    for one in begun.turns(3) if asks else ():
        output.say(f"{one.number}. {cut(one.goal, 70)}")
    return begun, turn is not None and turn.status in ("interrupted", "waiting")
