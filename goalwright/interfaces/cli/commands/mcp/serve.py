"""`goalwright mcp serve`: serve other agents."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, execution, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags


_HOST = "127.0.0.1"
_PORT = 8725


@click.command(cls=SectionedCommand)
@options.models
@options.strict_skills
@options.powers
@click.option("--allow-approvals", is_flag=True, help="Let clients approve calls and tasks, not only answer questions.")
@click.option(
    "--http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 with a token, instead of stdin and stdout."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=None,
    metavar="N",
    help="Port for --http (default: 8725; 0: any free port).",
)
@options.journal
@options.workspace
def serve(workspace: Path, flags: SettingFlags, *, allow_approvals: bool, http: bool, port: int | None) -> int:
    """Serve this workspace to other agents, as an MCP server.

    The server uses stdin and stdout. With --http, it prints an address and a token; clients send the header
    `Authorization: Bearer TOKEN`.

    Clients run goals and read the results (run_goal, get_run, answer_run, plan_goal, list_skills, list_runs). A run
    continues if its client stops waiting. Approvals wait for you: see `goalwright approvals`. This command trusts
    nothing: trust the workspace's tools first, with `goalwright run --trust` or `goalwright mcp check --trust`.

    \b
    Examples:
      claude mcp add goalwright -- goalwright mcp serve --workspace /path/to/project
      goalwright mcp serve --model openai/gpt-6.1-sol --max-cost 1
      goalwright mcp serve --http --port 8725

    Exit status: 0 the client disconnected, 4 the mcp package or a setting is missing, 130 interrupted.
    """
    from goalwright.interfaces.mcp.serve import serve as run_server
    from goalwright.runs.runtime import Goalwright

    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags).settings
    if port is not None and not http:
        raise InputError("--port needs --http", hint="goalwright mcp serve --http --port N")
    if http:
        return _serve_http(Goalwright(where.workspace, settings), port, allow_approvals=allow_approvals)
    if sys.stdin.isatty():
        output.say("Serving MCP on stdin and stdout: add this command to an MCP client. Press Ctrl-C to stop.")
    interrupted = asyncio.run(
        _serve(run_server(Goalwright(where.workspace, settings), allow_approvals=allow_approvals))
    )
    return 130 if interrupted else 0


def _serve_http(goalwright: Any, port: int | None, *, allow_approvals: bool) -> int:
    """Serve on loopback; the token, Host and Origin are checked as in `goalwright serve`."""
    import secrets

    from goalwright.interfaces.mcp.serve import serve_http
    from goalwright.interfaces.web.guard import Guard, Hosts
    from goalwright.interfaces.web.serve import bind

    listening = bind(_HOST, _PORT if port is None else port, allow_remote=False)
    token, number = secrets.token_urlsafe(32), listening.getsockname()[1]
    output.print_text(f"http://{_HOST}:{number}/mcp\n{token}")
    sys.stdout.flush()
    output.say("Clients send the second line as `Authorization: Bearer TOKEN`. Press Ctrl-C to stop.")

    def guard(app: Any) -> Guard:
        return Guard(app, token, Hosts(_HOST, number), private="/")

    interrupted = asyncio.run(_serve(serve_http(goalwright, listening, guard, allow_approvals=allow_approvals)))
    return 130 if interrupted else 0


async def _serve(serving: Any) -> list[str]:
    interrupted: list[str] = await serving
    for run_id in interrupted:
        output.say(f"Interrupted: {run_id}. Resume with: {output.program()} resume {run_id}")
    execution.exit_now(130 if interrupted else 0)  # a thread still reads stdin
    return interrupted
