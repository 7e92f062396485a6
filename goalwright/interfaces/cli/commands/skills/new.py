"""`goalwright skills new` and `goalwright skills delete`: the workspace's own skills and tools."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.skills.open_workspace import open_registry, open_skills
from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.programs.manifest import Runtime


RUNTIMES = ("python", "node", "go", "binary")


@click.command("new")
@click.argument("name")
@click.option("--skill", "kind", flag_value="skill", help="A SKILL.md: instructions for a model.")
@click.option(
    "--tool", "kind", flag_value="tool", help="A tool: a program (default without a terminal or --description)."
)
@click.option("--description", metavar="TEXT", help="What the skill does and when to use it (implies --skill).")
@click.option(
    "--runtime", type=click.Choice(RUNTIMES), default="python", show_default=True, help="Language of the tool."
)
@options.common
def new(
    name: str, kind: str | None, description: str | None, runtime: Runtime, workspace: Path, mode: OutputMode
) -> int:
    """Create a skill, or a working tool to change.

    A skill goes to .agents/skills/. A tool goes to skills/; it works and passes `goalwright skills check`. At a
    terminal, goalwright asks which of the two you want, unless a flag decides.

    \b
    Examples:
      goalwright skills new release-notes --description "Write release notes from a list of changes."
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
        warn_of_shadowing(workspace, names)
    if mode.as_json:
        output.print_json({"written": [str(path) for path in written]})
        return 0
    output.print_text("\n".join(str(path) for path in written))
    if not mode.quiet:
        output.say(hint)
    return 0


def _asked(description: str | None) -> str:
    """Return the kind to create: a skill if described, else as asked at the terminal, else a tool."""
    if description is not None:
        return "skill"
    runtime_given = (
        click.get_current_context().get_parameter_source("runtime") is click.core.ParameterSource.COMMANDLINE
    )
    if runtime_given or not terminal.can_ask():
        return "tool"
    return str(
        click.prompt("A skill (instructions) or a tool (a program)?", type=click.Choice(["skill", "tool"]), err=True)
    )


def _described() -> str:
    if not terminal.can_ask():
        return ""
    return str(click.prompt("What does it do, and when should it be used?", err=True))


@click.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@options.common
def delete(name: str, workspace: Path, mode: OutputMode, *, yes: bool) -> int:
    """Delete a skill or tool of the workspace.

    NAME is a skill in .agents/skills/, or a tool (or its folder) that `goalwright skills new` created. Its folder is
    deleted. All other skills are read-only.

    \b
    Examples:
      goalwright skills delete release-notes --yes
      goalwright skills delete word-count
    """
    from goalwright_skills.manage import edit, install

    registry = open_registry(workspace)
    skill = edit.own(registry, name)
    if not terminal.confirmed(f"Delete {skill.base_dir} and all its files?", yes=yes):
        raise InputError("nothing was deleted", hint="confirm with --yes")
    folder = install.delete(registry, name)
    output.show(mode, {"name": name, "deleted": str(folder)}, f"Deleted {folder}")
    return 0


_BUNDLED = "that comes with goalwright"
_REMEDY = "to have both, choose another name"


def warn_of_shadowing(workspace: Path, names: Iterable[str]) -> None:
    """Warn about new skills and tools whose name another one has."""
    skills = open_skills(workspace, quiet=True)
    for name in names:
        for text in _conflicts(skills, name):
            output.say_warning(text)


def _conflicts(skills: WorkspaceSkills, name: str) -> Iterator[str]:
    from goalwright.workspace.skill_list import installed_tools

    rows = [row for row in skills.registry.list_skills(all=True) if row.name == name and row.state != "broken"]
    counted = next((row for row in rows if row.state != "shadowed"), None)
    for row in rows:
        if row.state == "shadowed" and counted is not None and counted.source in ("workspace", "project"):
            where = _BUNDLED if row.source == "bundled" else f"in {row.base_dir}"
            yield f"{name!r} is now used instead of the skill of that name {where}; {_REMEDY}"
        elif row.state == "shadowed" and counted is not None:
            yield f"{name!r} is not used: {counted.file} has the same name, and counts first; choose another name"
    if any(
        tool.name == name and tool.source == "bundled" for tool in installed_tools(skills.preferences, everything=True)
    ):
        yield f"{name!r} is now used instead of the tool of that name {_BUNDLED}; {_REMEDY}"
