"""`weft chat`: talk with weft, turn by turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from weft.cli import configuration, options
from weft.cli.dialogs import confirm
from weft.cli.view import output
from weft_skills.errors import InputError
from weft_skills.text.plural import counted
from weft_skills.text.shorten import cut

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.options import GoalFlags
    from weft.cli.view.output_mode import OutputMode
    from weft.runs.conversations.conversation import Conversation
    from weft.runs.runtime import Weft


@click.command()
@click.argument("goal", required=False)
@click.option("--continue", "go_on", is_flag=True, help="Continue with the last conversation of the workspace.")
@click.option("--conversation", metavar="ID", help="Continue with this conversation: its id, or a prefix of it.")
@options.models
@options.yes
@options.skills
@options.tools
@options.approve_all
@options.goal
@options.concurrency
@options.cache
@options.stream_plan
@options.replans
@options.powers
@options.changes
@options.journal
@options.common
def chat(
    goal: str | None,
    conversation: str | None,
    workspace: Path,
    goal_flags: GoalFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    go_on: bool,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Talk with weft: each goal is a turn that sees the earlier ones.

    GOAL is the first turn. At a terminal, /help lists the commands; elsewhere every line of stdin is a goal, and each
    answer is printed (with --json, one document a line).

    \b
    Examples:
      weft chat
      weft chat "Compare three caches"
      weft chat --continue
      printf 'What is a DAG?\\nAnd a tree?\\n' | weft chat

    Every turn is a run: `weft trace`, `weft replay` and `weft resume` work on it.

    Exit status: that of the last turn, as of `weft run`.
    """
    from weft.cli import model_download, warm_up
    from weft.cli.chat import lines
    from weft.cli.chat.chat import Chat
    from weft.cli.chat.page import ConversationPage
    from weft.cli.dialogs import first_model, trust_prompt
    from weft.runs.goal import Goal
    from weft.runs.runtime import Weft

    goal = None if goal == "-" else goal  # stdin is read anyway
    if go_on and conversation is not None:
        raise InputError("--continue and --conversation name two conversations", hint="give one of them")
    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    yes = first_model.offer(resolved.settings, mode, yes=yes)
    weft = Weft(workspace, resolved.settings, open_model=warm_up.begin(resolved.settings, where))
    trust_prompt.trust_mcp(weft.workspace.tools, trust=trust, quiet=mode.quiet, warn=False)
    configuration.announce_journal(where, resolved, quiet=mode.quiet)
    trust_prompt.trust_tools(weft.workspace.tools, trust=trust, quiet=mode.quiet)
    warm_up.check_keys(weft.settings)
    model_download.offer(weft.models.names, yes=yes, quiet=mode.quiet)
    at_terminal = confirm.can_ask() and not mode.as_json
    base = Goal(".", skills=goal_flags.skills, files=goal_flags.files, answers=goal_flags.answers, stream=at_terminal)
    begun, resumes = _begun(weft, "last" if go_on else conversation, asks=at_terminal and goal is None)
    page = ConversationPage(where.workspace, flags.given()) if at_terminal else None
    talking = Chat(begun, mode, base, lambda settings: warm_up.begin(settings, where), page)

    async def talk() -> int:
        async with weft:
            if page is None:
                return await lines.talk(talking, goal, resume=resumes, allow_all=approve_all)
            from weft.cli.chat.terminal import TerminalChat

            try:
                await TerminalChat(talking, approve_all).talk(goal, resume=resumes)
            finally:
                await asyncio.to_thread(page.close)
            return talking.status

    return asyncio.run(talk())


def _begun(weft: Weft, name: str | None, *, asks: bool) -> tuple[Conversation, bool]:
    """The conversation to continue, or a new one, and whether its last turn has to go on."""
    from weft.runs.conversations.conversation import Conversation

    if name is None and (last := next(weft.journal.store.conversations(1), None)) is not None and asks:
        what = f"“{cut(last.goal, 50)}”, {counted(last.turns, 'turn')}"
        if last.status in ("interrupted", "waiting"):
            ended = "waits for you" if last.status == "waiting" else "was cut off"
            name = (
                last.conversation
                if click.confirm(f"The last conversation ({what}) {ended}. Continue it?", err=True)
                else None
            )
        else:
            output.say(f"The last conversation: {what}. `{output.program()} chat --continue` continues it.")
    if name is None:
        return Conversation.new(weft), False
    begun = Conversation.open(weft, name)
    turn = begun.last
    for one in begun.turns(3) if asks else ():
        output.say(f"{one.number}. {cut(one.goal, 70)}")
    return begun, turn is not None and turn.status in ("interrupted", "waiting")
