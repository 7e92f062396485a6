"""`weft skills new`: a working tool for its author to change."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

RUNTIMES = ("python", "node", "go", "binary")


@click.command("new")
@click.argument("name")
@click.option(
    "--runtime", type=click.Choice(RUNTIMES), default="python", show_default=True, help="What the tool is written in."
)
@options.common
def new(name: str, runtime: Any, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Create a tool in skills/ that works and passes `weft skills check`, for you to change.

    \b
    Examples:
      weft skills new word-count
      weft skills new image_resize --runtime node
    """
    from skills.manage import new_tool

    written = new_tool.new(name, runtime, options.paths(workspace).workspace / "skills")
    if as_json:
        output.print_json({"written": [str(path) for path in written]})
    else:
        output.print_text("\n".join(str(path) for path in written))
    if not as_json and not quiet:
        output.say(f"Try it: weft skills check {shlex.quote(str(written[0].parent))}")
    return 0
