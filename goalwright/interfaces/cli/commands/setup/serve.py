"""`goalwright serve` and `goalwright acp`: this workspace in a browser, and in editors."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, execution, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.resume_command import resume_command
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8420, metavar="N", help="Port to serve on (default: 8420)."
)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to serve on (default: 127.0.0.1).")
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines can reach, without encryption.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--read-only", is_flag=True, help="Allow no changes.")
@options.write
@options.workspace
@options.journal
def serve(
    workspace: Path, flags: SettingFlags, port: int, host: str, *, allow_remote: bool, no_open: bool, read_only: bool
) -> int:
    """Open this workspace in a browser.

    Start goals, watch and steer the runs of any process, inspect and edit plans, manage skills. Prints an address with
    a token, which every request needs; if the port is taken, the next free one is used. Ctrl-C stops the server and
    interrupts its runs, which can be resumed. From another machine, use an SSH tunnel.

    \b
    Examples:
      goalwright serve
      goalwright serve --port 9000 --no-open
      goalwright serve --write                       # goals may change files, after your approval
      goalwright serve --read-only --journal runs.sqlite
      ssh -L 8420:localhost:8420 server        # then open the printed address here

    Exit status: 2 wrong usage, 4 the journal cannot be used, 130 ended with Ctrl-C.
    """
    from goalwright.interfaces.web.serve import WebServer, bind
    from goalwright.interfaces.web.site import Site

    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags).settings  # raises before a port is bound
    _check_journal(where, settings)
    site = Site(where.workspace, flags.given(), read_only=read_only)
    listening = bind(host, port, allow_remote=allow_remote)
    if allow_remote:
        output.say_warning("connections are not encrypted: use a network that you trust, or an SSH tunnel")
    server = WebServer(site, listening, partial(execution.exit_now, 130))
    _announce(where.workspace, server.address, open_page=not no_open)
    interrupted = asyncio.run(server.run_to_end())
    from goalwright.runs.stored import (
        records,  # slow to import: the first page is shown sooner without it
    )

    for run_id in interrupted:
        command = shlex.join(resume_command(run_id, workspace, records.url(where, settings)))
        output.say(f"Interrupted: {run_id}. Resume with:\n  {command}")
    return 130


def _check_journal(where: Paths, settings: Settings) -> None:
    """Raise if the journal exists and cannot be used; the first goal creates a missing one."""
    from goalwright.settings import journal_place
    from goalwright_executor.stores.errors import UnknownRun

    with suppress(UnknownRun):
        journal_place.recorded_runs(where, settings).close()


def _announce(workspace: Path, address: str, *, open_page: bool) -> None:
    """Print the address, and open it in a browser if there is a screen."""
    output.say(f"Serving {workspace}. Press Ctrl-C to stop. Open:")
    output.print_text(address)
    sys.stdout.flush()
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if open_page and has_screen:
        import threading
        import webbrowser

        # In a thread, because some browsers take seconds to return.
        threading.Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True).start()


@click.command(cls=SectionedCommand)
@options.models
@options.strict_skills
@options.powers
@options.journal
def acp(flags: SettingFlags) -> int:
    """Serve editors over the Agent Client Protocol.

    Zed, JetBrains IDEs, Neovim and other editors start this command, with stdin and stdout, and name the folder to work
    in; docs/editors.md has their settings. A session is a conversation in that folder's journal, which can be loaded
    again. This command trusts nothing: trust the workspace's tools first, with `goalwright run --trust`.

    \b
    Examples:
      goalwright acp
      goalwright acp --model openai/gpt-6.1-sol --max-cost 1

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
    execution.exit_now(130 if interrupted else 0)  # a thread still reads stdin
    return 0
