"""`goalwright chat`: a conversation of several goals."""

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
from goalwright_skills.text.formatting import counted, cut

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.goal_source import SourceFlags
    from goalwright.interfaces.cli.options import GoalFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright


@click.command(cls=SectionedCommand)
@click.argument("goal", required=False)
@click.argument("values", nargs=-1, metavar="")
@click.option("--continue", "go_on", is_flag=True, help="Continue the last conversation of the workspace.")
@click.option("--conversation", metavar="ID", help="Continue this conversation: its id, or a prefix of it.")
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

    GOAL is the first turn. At a terminal, /help lists the commands. Elsewhere each line of stdin is a goal, and each
    answer is printed (with --json, one document per line).

    --plan, --recipe, --after, --answer and --dry-run apply to the first turn, --review to all turns; -o gets the last
    answer.

    \b
    Examples:
      goalwright chat
      goalwright chat "Compare three caches"
      goalwright chat --continue
      goalwright chat --plan plan.yaml
      goalwright chat --after last "Which of them is the simplest?"
      printf 'What is a DAG?\\nAnd a tree?\\n' | goalwright chat

    Each turn is a run, for `goalwright trace`, `goalwright replay` and `goalwright resume`.

    Exit status: that of the last turn; see `goalwright run --help`.
    """
    from goalwright.interfaces.cli import model_download, warm_up
    from goalwright.interfaces.cli.chat.chat import Chat
    from goalwright.interfaces.cli.chat.page import ConversationPage
    from goalwright.interfaces.cli.commands.runs.run import show_preview
    from goalwright.interfaces.cli.dialogs import first_model, trust_prompt
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.goal import NO_GOAL, Goal
    from goalwright.runs.runtime import Goalwright

    goal = None if goal == "-" else goal  # a chat always reads stdin
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
    first_goal = replace(
        base, text=NO_GOAL if goal is None or source.recipe is not None else goal, answers=goal_flags.answers
    )
    seen = Conversation.open(goalwright, name).seen() if name is not None and source.plan_file is not None else None
    first_goal = source.added_to(first_goal, goalwright, (goal, *values) if goal is not None else (), mode, seen)
    if source.dry_run:
        session = Chat(Conversation.new(goalwright), mode, base, lambda _: None)
        turn = asyncio.run(_first(session, goal, first_goal, source))
        turn = turn if isinstance(turn, Goal) else first_goal
        return show_preview(goalwright, _as_turn(goalwright, turn, name), mode, indent=None)
    configuration.announce_journal(where, resolved, quiet=mode.quiet)
    trust_prompt.trust_tools(goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
    warm_up.check_keys(goalwright.settings)
    model_download.offer(goalwright.models.names, yes=yes, quiet=mode.quiet)
    asks = at_terminal and goal is None and not source.has_goal
    current, resumes = _opened(goalwright, name, asks=asks)
    page = ConversationPage(where.workspace, flags.given()) if at_terminal else None
    session = Chat(current, mode, base, lambda settings: warm_up.begin(settings, where), page, target)

    first = _first(session, goal, first_goal, source)
    return asyncio.run(_talk(session, first, resume=resumes, allow_all=approve_all, reviews=source.review))


async def _talk(
    chat: Chat, first: Awaitable[Goal | str | None], *, resume: bool, allow_all: bool, reviews: bool
) -> int:
    """Run the turns that are typed at the terminal or read from stdin; returns the exit status."""
    from goalwright.interfaces.cli.chat import piped

    async with chat.goalwright:
        turn = await first
        if chat.page is None:
            return await piped.talk(chat, turn, resume=resume, allow_all=allow_all)
        from goalwright.interfaces.cli.chat.terminal import TerminalChat

        try:
            await TerminalChat(chat, allow_all, reviews).talk(turn, resume=resume)
        finally:
            await asyncio.to_thread(chat.page.close)
        return chat.status


def _check_first(goal: str | None, flags: GoalFlags, source: SourceFlags, *, continues: bool) -> None:
    """Raise if the options do not fit the first turn."""
    if source.plan_file is not None and str(source.plan_file) == "-":
        hint = "name a file; `goalwright run --plan -` runs a plan from stdin"
        raise InputError("--plan -: the goals of a chat come from stdin", hint=hint)
    if source.after is not None and continues:
        message = "--after starts a conversation, and cannot be used in one: each turn sees the earlier ones"
        raise InputError(message, hint="leave --after out, or --continue and --conversation")
    if goal is None and not source.has_goal:
        for flag, is_given in {"--after": source.after, "--dry-run": source.dry_run, "--answer": flags.answers}.items():
            if is_given:
                hint = f'for example: {output.program()} chat {flag} … "Compare three caches"'
                if flag == "--answer":
                    hint = f"`{output.program()} resume RUN --answer TEXT` answers what a turn asked"
                raise InputError(f"{flag} applies to the first turn, and no goal was given", hint=hint)


async def _first(chat: Chat, typed: str | None, first_goal: Goal, source: SourceFlags) -> Goal | str | None:
    """Return the first turn: a command, the goal of a plan or recipe, or the typed goal with its files and skills."""
    if typed is None or source.recipe is not None:
        return first_goal if source.has_goal else None
    if typed.startswith("/"):
        return typed
    goal = await chat.goal(typed)
    return replace(first_goal, text=goal.text, skills=goal.skills, files=goal.files)


def _as_turn(goalwright: Goalwright, goal: Goal, name: str | None) -> Goal:
    """Return the goal as a turn of the conversation; a new conversation creates no journal."""
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright_planner.events import ConversationTurn

    if name is not None:
        return Conversation.open(goalwright, name).as_next(goal)
    return replace(goal, conversation=ConversationTurn(Conversation.new(goalwright).id, 1))


def _opened(goalwright: Goalwright, name: str | None, *, asks: bool) -> tuple[Conversation, bool]:
    """Return the conversation to continue, or a new one, and whether its last turn must be resumed."""
    from goalwright.runs.conversations.conversation import Conversation
    from goalwright.runs.stored import records

    if name is None and (last := next(goalwright.journal.store.conversations(1), None)) is not None and asks:
        goal = records.local_text(last.goal, last.first, goalwright.paths)
        title = f"“{cut(goal, 50)}”, {counted(last.turns, 'turn')}"
        if last.turns and last.status in ("interrupted", "waiting"):
            ended = "waits for you" if last.status == "waiting" else "was interrupted"
            name = (
                last.conversation
                if click.confirm(f"The last conversation ({title}) {ended}. Continue it?", err=True)
                else None
            )
        else:
            output.say(f"The last conversation: {title}. `{output.program()} chat --continue` continues it.")
    if name is None:
        return Conversation.new(goalwright), False
    conversation = Conversation.open(goalwright, name)
    turn = conversation.last
    for earlier in conversation.turns(3) if asks else ():
        output.say(f"{earlier.number}. {cut(earlier.goal, 70)}")
    return conversation, turn is not None and turn.status in ("interrupted", "waiting")
