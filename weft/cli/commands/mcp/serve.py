"""`weft mcp serve`: weft as a server for other agents."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from weft.cli import configuration, execution, options
from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags


@click.command()
@options.models
@options.skills
@options.powers
@click.option("--allow-approvals", is_flag=True, help="Let clients approve calls and tasks, not only answer questions.")
@options.journal
@options.workspace
def serve(workspace: Path, flags: SettingFlags, *, allow_approvals: bool) -> int:
    """Serve this workspace to other agents, as an MCP server on standard input and output.

    Clients start goals and ask for their runs (run_goal, get_run, answer_run, plan_goal, list_skills, list_runs). A run
    continues when its client stops waiting. What needs your approval waits for you: `weft approvals`. Nothing becomes
    trusted here: trust the workspace's tools first, with `weft run --trust` or `weft mcp check --trust`.

    \b
    Examples:
      claude mcp add weft -- weft mcp serve --workspace /path/to/project
      weft mcp serve --model openai/gpt-4o --max-cost 1

    Exit status: 0 the client disconnected, 4 the mcp package or a setting is missing, 130 interrupted.
    """
    from weft.mcp_server.serve import serve as run_server
    from weft.runs.runtime import Weft

    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags).settings
    if sys.stdin.isatty():
        output.say("Serving MCP on stdin and stdout: add this command to an MCP client. Press Ctrl-C to stop.")
    interrupted = asyncio.run(_serve(run_server(Weft(where.workspace, settings), allow_approvals=allow_approvals)))
    return 130 if interrupted else 0


async def _serve(serving: Any) -> list[str]:
    interrupted: list[str] = await serving
    for run_id in interrupted:
        output.say(f"Interrupted: {run_id}. Resume with: {output.program()} resume {run_id}")
    execution.exit_now(130 if interrupted else 0)  # a thread still reads standard input
    return interrupted
