"""`weft skills new|call`: for those who write tools."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from weft.workspace.tools import WorkspaceTools

RUNTIMES = ("python", "node", "go", "binary")


@click.command("new")
@click.argument("name")
@click.option(
    "--runtime", type=click.Choice(RUNTIMES), default="python", show_default=True, help="What the tool is written in."
)
@options.common
def new(name: str, runtime: Any, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Write a tool that works and passes the check, for you to change, into skills/.

    \b
    Examples:
      weft skills new word-count
      weft skills new image_resize --runtime node
    """
    from skills.manage.new_tool import new as write

    written = write(name, runtime, options.paths(workspace).workspace / "skills")
    if as_json:
        output.print_json({"written": [str(path) for path in written]})
    else:
        output.print_text("\n".join(str(path) for path in written))
    if not as_json and not quiet:
        output.say(f"Try it: weft skills check {shlex.quote(str(written[0].parent))}")
    return 0


@click.command("call")
@click.argument("name")
@click.argument("arguments", metavar="JSON", default="{}")
@options.tools
@options.common
def call(
    name: str, arguments: str, workspace: Path, *, trust: bool, unsafe_tools: bool | None, as_json: bool, quiet: bool,
    verbose: bool,
) -> int:  # fmt: skip
    """Run a tool by hand and print its envelope, as a model would get it. `-` reads the arguments from stdin.

    What it writes, and an output that is too long, go to a folder of their own under .agents/runs/.

    \b
    Examples:
      weft skills call excel_info '{"path": "data/report.xlsx"}'
      weft skills call word_count_run '{"text": "one two"}' --trust

    Exit status: 0 success or a part of it, 1 the tool's error, 2 wrong usage.
    """
    import asyncio  # not above: `weft skills list` imports this module too, and must start at once

    from executor.tasks.artifacts import Artifacts, make_home
    from skills.text.nearest import nearest_names
    from weft.cli import trust_prompt
    from weft.runs.run_id import new_run_id

    where = options.paths(workspace)
    offered = open_tools(workspace, unsafe=unsafe_tools, trust=trust, quiet=quiet)
    given = _object(options.stdin_text("what is passed") if arguments == "-" else arguments)
    artifacts = Artifacts.of(where.workspace, new_run_id()).folder
    tools = offered.by_name(artifacts, log=_say if not quiet else None, progress=output.say if not quiet else None)
    if name not in tools and (reason := offered.reason(name)):
        raise InputError(f"the tool {name!r} {reason}", hint="`weft skills list --all` shows every tool and its state")
    if name not in tools:
        near = nearest_names(name, list(tools))
        raise InputError(f"there is no tool {name!r}; tools are: {near}", hint="call one of these by its name")
    if trust or name in {row.name for row in offered.untrusted()}:
        trust_prompt.settle(offered, trust=trust, quiet=quiet)
    envelope = asyncio.run(tools[name].call(given))
    if artifacts.exists():
        make_home(where.agents)
    output.print_json(envelope.to_dict())
    return 1 if envelope.status == "error" else 0


def open_tools(workspace: Path, *, unsafe: bool | None, trust: bool, quiet: bool) -> WorkspaceTools:
    """The tools of a workspace; its settings count once it is trusted, so that is said first."""
    from weft.cli import trust_prompt
    from weft.workspace.skills import WorkspaceSkills
    from weft.workspace.tools import WorkspaceTools

    where = options.paths(workspace)
    if trust:
        trust_prompt.workspace(where)
    settings = options.settings(where, {"unsafe_tools": unsafe}, quiet=quiet).settings
    return WorkspaceTools(where, WorkspaceSkills(where, settings).registry, unsafe=settings.unsafe_tools)


def _object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise InputError(f"the arguments are no JSON: {error}", hint="""give an object: '{"path": "x"}'""") from error
    if not isinstance(given, dict):
        raise InputError("the arguments must be a JSON object", hint="""such as '{"path": "x"}'""")
    return given


def _say(log: Any) -> None:
    for text in (log.log, log.stderr):
        if text.strip():
            output.say(text.rstrip())
