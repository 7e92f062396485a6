"""`goalwright skills show`: a skill as a task receives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output
from goalwright.workspace.skill_list import installed_tools, task_capabilities
from goalwright_skills.discovery.needs import SWITCHES, needs, told
from goalwright_skills.errors import InputError
from goalwright_skills.functions import installed

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("show")
@click.argument("name")
@click.option("--args", "arguments", default="", metavar="TEXT", help="Text that replaces $ARGUMENTS.")
@options.common
def show(name: str, arguments: str, workspace: Path, mode: OutputMode) -> int:
    """Show a skill as a task receives it.

    \b
    Examples:
      goalwright skills show cataloging-apis --args "only the public endpoints"
    """
    skills = open_skills(workspace, quiet=mode.quiet)
    registry = skills.registry
    skill = registry.get(name)
    if skill.kind == "executable" if skill else name in installed.names():
        raise InputError(
            f"{name!r} is a tool and has no SKILL.md to show", hint=f"run it with `goalwright skills call {name}`"
        )
    content = registry.load_content(name, arguments)
    warn(registry, verbose=mode.verbose, quiet=True)
    needed = needs(skill) if skill is not None else ()
    tasks = task_capabilities(skills, installed_tools(skills.preferences, everything=False)) if needed else frozenset()
    if mode.as_json and skill is not None:
        rows = [{"what": need.what, "available": need.what in tasks, "said": need.said} for need in needed]
        output.print_json(skill.to_dict() | {"needs": rows, "content": content})
        return 0
    if needed and not mode.quiet:
        off = " ".join(SWITCHES[need.what] for need in needed if need.what not in tasks)
        output.say(f"{name} needs {told(needed, tasks)}" + (f" (a run has it with {off})" if off else ""))
    output.print_text(content)
    return 0
