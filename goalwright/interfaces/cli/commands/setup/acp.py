"""`goalwright acp`: editors drive goalwright."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, execution, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings


@click.command()
@options.models
@options.skills
@options.powers
@options.journal
def acp(flags: SettingFlags) -> int:
    """Serve editors, as an agent of the Agent Client Protocol on standard input and output.

    Zed, JetBrains IDEs, Neovim and others start this command and name the folder to work in; docs/editors.md has their
    settings. A session is a conversation in that folder's journal: it can be loaded again, and `goalwright trace` shows its
    turns. Nothing becomes trusted here: trust the workspace's tools first, with `goalwright run --trust`.

    \b
    Examples:
      goalwright acp
      goalwright acp --model openai/gpt-4o --max-cost 1

    Exit status: 0 the editor disconnected, 4 the package agent-client-protocol is missing, 130 interrupted.
    """
    try:
        from goalwright.interfaces.acp.serve import serve
    except ImportError as error:
        raise SetupError(
            "`goalwright acp` needs the package agent-client-protocol", hint="pip install 'goalwright[acp]'"
        ) from error

    def configure(folder: Path) -> tuple[Paths, Settings]:
        where = configuration.paths(folder)
        return where, configuration.settings(where, flags, quiet=True).settings

    if sys.stdin.isatty():
        output.say("Serving editors on stdin and stdout: docs/editors.md has their settings. Press Ctrl-C to stop.")
    interrupted = asyncio.run(serve(configure))
    for session in interrupted:
        output.say(f"Interrupted: the session {session}. Load it again in the editor to continue.")
    execution.exit_now(130 if interrupted else 0)  # a thread still reads standard input
    return 0
