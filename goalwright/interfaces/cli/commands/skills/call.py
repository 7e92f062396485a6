"""`goalwright skills call`: run a tool by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.commands.skills.open_workspace import open_workspace
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode


@click.command("call")
@click.argument("name")
@click.argument("arguments", metavar="JSON", default="{}")
@options.trust
@options.any_setting
@options.common
def call(name: str, arguments: str, workspace: Path, flags: SettingFlags, mode: OutputMode, *, trust: bool) -> int:
    """Run a tool by hand.

    Prints the envelope that a model would get. JSON (`-`: stdin) holds the arguments. Built-in tools that read, such as
    ReadFile and Grep, can be called too. Files that a tool writes and long outputs go to a new folder in .agents/runs/.

    \b
    Examples:
      goalwright skills call excel_info '{"path": "data/report.xlsx"}'
      goalwright skills call word_count_run '{"text": "one two"}' --trust
      goalwright skills call ReadFile '{"path": "README.md", "limit": 20}'

    Exit status: 0 complete or partial success, 1 the tool failed, 2 wrong usage.
    """
    import asyncio  # these imports are slow

    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright.runs.run_id import new_run_id
    from goalwright.workspace.builtin_tools import ToolPlace
    from goalwright_executor.results.artifacts import Artifacts, make_home
    from goalwright_skills.text.formatting import nearest_names

    where = configuration.paths(workspace)
    opened = open_workspace(workspace, flags, trust=trust, quiet=mode.quiet)
    offered = opened.tools
    if trust or name.startswith("mcp__"):
        trust_prompt.trust_mcp(offered, trust=trust, quiet=mode.quiet, warn=True)
    values = _parse(stdin.stdin_text("the JSON") if arguments == "-" else arguments)
    artifacts = Artifacts.of(where.workspace, new_run_id()).folder
    tools = offered.by_name(
        artifacts, log=_say if not mode.quiet else None, progress=output.say if not mode.quiet else None
    )
    tools = opened.builtin.reading(ToolPlace()) | tools
    if name not in tools and (reason := offered.reason(name)):
        raise InputError(
            f"the tool {name!r} {reason}", hint="`goalwright skills list --all` shows every tool and its state"
        )
    if name not in tools:
        near = nearest_names(name, list(tools))
        raise InputError(f"there is no tool {name!r}; tools are: {near}", hint="call one of these by its name")
    if trust or name in {row.name for row in offered.untrusted()}:
        trust_prompt.trust_tools(offered, trust=trust, quiet=mode.quiet)
    try:
        envelope = asyncio.run(tools[name].call(values))
    finally:
        offered.close()
    if artifacts.exists():
        make_home(where.agents)
    output.print_json(envelope.to_dict())
    return 1 if envelope.status == "error" else 0


def _parse(text: str) -> dict[str, Any]:
    """Parse the arguments; raises unless they are a JSON object."""
    hint = """give an object, such as '{"path": "x"}'"""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"the arguments are not valid JSON: {error}", hint=hint) from error
    if not isinstance(values, dict):
        raise InputError("the arguments must be a JSON object", hint=hint)
    return values


def _say(log: Any) -> None:
    for text in (log.log, log.stderr):
        if text.strip():
            output.say(text.rstrip())
