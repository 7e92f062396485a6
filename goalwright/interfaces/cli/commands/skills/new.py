"""`goalwright skills new`: a skill to write, or a working tool to change."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.skills import shadowing
from goalwright.interfaces.cli.dialogs import confirm
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_skills.programs.manifest import Runtime

RUNTIMES = ("python", "node", "go", "binary")


@click.command("new")
@click.argument("name")
@click.option("--skill", "kind", flag_value="skill", help="A SKILL.md: instructions for a model.")
@click.option("--tool", "kind", flag_value="tool", help="A tool: a program (the default without a terminal).")
@click.option("--description", metavar="TEXT", help="With --skill: what it does and when to use it.")
@click.option(
    "--runtime", type=click.Choice(RUNTIMES), default="python", show_default=True, help="What a tool is written in."
)
@options.common
def new(
    name: str, kind: str | None, description: str | None, runtime: Runtime, workspace: Path, mode: OutputMode
) -> int:
    """Create a skill in .agents/skills/, or a tool in skills/ that works and passes `goalwright skills check`.

    At a terminal, goalwright asks which of the two you want unless a flag says so.

    \b
    Examples:
      goalwright skills new release-notes --skill --description "Write release notes from a list of changes."
      goalwright skills new word-count --tool
      goalwright skills new image_resize --runtime node
    """
    from goalwright_skills.manage import install, new_tool
    from goalwright_skills.programs import manifest_file

    where = configuration.paths(workspace).workspace
    if (kind or _asked(description)) == "skill":
        written, names = [install.add(where, name, description or _described())], [name]
        hint = "Next: write down the steps in it."
    else:
        written = new_tool.new(name, runtime, where / "skills")
        names = [manifest.name for manifest in manifest_file.read(written[0].parent)[0]]
        hint = f"Try it: goalwright skills check {shlex.quote(str(written[0].parent))}"
    if not mode.quiet:
        shadowing.warn(workspace, names)
    if mode.as_json:
        output.print_json({"written": [str(path) for path in written]})
        return 0
    output.print_text("\n".join(str(path) for path in written))
    if not mode.quiet:
        output.say(hint)
    return 0


def _asked(description: str | None) -> str:
    """What the user wants: a description is a skill's; without a terminal to ask on, a tool."""
    if description is not None:
        return "skill"
    runtime_given = (
        click.get_current_context().get_parameter_source("runtime") is click.core.ParameterSource.COMMANDLINE
    )
    if runtime_given or not confirm.can_ask():
        return "tool"
    return str(
        click.prompt("A skill (instructions) or a tool (a program)?", type=click.Choice(["skill", "tool"]), err=True)
    )


def _described() -> str:
    if not confirm.can_ask():
        return ""
    return str(click.prompt("What does it do, and when should it be used?", err=True))
