"""`goalwright skills list` and `goalwright skills show`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.mcp.servers import server_states
from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output, width
from goalwright.workspace import skill_list
from goalwright.workspace.skill_list import installed_tools, task_capabilities
from goalwright_skills.discovery.needs import COMMANDS, WEB, describe, needs
from goalwright_skills.errors import InputError
from goalwright_skills.functions import installed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_skills.preferences import Preferences
    from goalwright_skills.skill import Skill


# With more skills, only their frontmatter is searched for needs.
_MOST_BODIES = 1_000
_FLAGS = {WEB: "--allow-web HOST", COMMANDS: "--tools shell"}


@click.command("list")
@click.option(
    "--all", "everything", is_flag=True, help="Include shadowed, disabled and broken skills, with the reason."
)
@options.skills
@options.common
def list_skills(workspace: Path, flags: SettingFlags, mode: OutputMode, *, everything: bool) -> int:
    """List the skills, strongest location first.

    \b
    Examples:
      goalwright skills list
      goalwright skills list --all --json
    """
    skills = open_skills(workspace, flags, quiet=mode.quiet)
    registry = skills.registry
    tools = skill_list.installed_tools(skills.preferences, everything=everything)
    servers = skill_list.mcp_tools(server_states(workspace), everything=everything)
    rows = [*registry.list_skills(all=everything), *tools, *servers]
    warn(registry, verbose=mode.verbose or everything, quiet=mode.quiet, more=skills.warnings)
    if mode.as_json:
        output.print_json([skill.to_dict() for skill in rows])
    else:
        _print_table(rows, skill_list.task_capabilities(skills, tools), skills.preferences)
    return 0


def _print_table(rows: Sequence[Skill], able: Collection[str], preferences: Preferences) -> None:
    if not rows:
        output.say("No skills found. `goalwright doctor` shows where goalwright looks for them.")
        return
    room = width.of(sys.stdout)
    widest = 40 if room is None else max(room // 3, 16)
    names = min(max(len(skill.name) for skill in rows), widest)
    bodies = len(rows) <= _MOST_BODIES
    output.print_lines(
        _line(skill, _notes(skill, preferences.notes(skill), able, bodies=bodies), names, room) for skill in rows
    )


def _notes(skill: Skill, preferences: Sequence[str], able: Collection[str], *, bodies: bool) -> str:
    """Return why a skill is not used, or the user's settings for it and its unmet needs."""
    if skill.state != "active":
        return f"[{_state(skill)}] "
    missing = [need for need in needs(skill, body=bodies) if need.capability not in able]
    notes = [*preferences, *([f"needs {describe(missing, able)}"] if missing else [])]
    return "".join(f"[{note}] " for note in notes)


def _line(skill: Skill, notes: str, names: int, room: int | None) -> str:
    """Format a skill as a line; on a terminal the description is cut to fit."""
    head = f"{skill.name.ljust(names)}  {skill.source.ljust(9)}  {notes}"
    text = skill.description
    if room is not None:
        description = output.escape_controls(" ".join(text[: 2 * room].split()))
        return head + width.cut(description, room - len(head))
    return head + (" ".join(text.split()) if "\n" in text else text)  # splitting thousands would take long


def _state(skill: Skill) -> str:
    """Return a state with its reason, which usually begins with the state."""
    reason = skill.reason or ""
    return reason if reason.startswith(skill.state) else f"{skill.state}: {reason}"


@click.command("show")
@click.argument("name")
@click.option("--args", "arguments", default="", metavar="TEXT", help="Text that replaces $ARGUMENTS.")
@click.option("--files", "only_files", is_flag=True, help="List the files of the skill with their sizes instead.")
@options.any_setting
@options.common
def show(name: str, arguments: str, workspace: Path, flags: SettingFlags, mode: OutputMode, *, only_files: bool) -> int:
    """Show a skill as a task receives it, or list its files.

    \b
    Examples:
      goalwright skills show cataloging-apis --args "only the public endpoints"
      goalwright skills show cataloging-apis --files
    """
    from goalwright_skills.manage import install

    skills = open_skills(workspace, flags, quiet=mode.quiet)
    registry = skills.registry
    skill = registry.get(name)
    listed = install.files(skill) if skill is not None else []
    files = [{"path": path, "bytes": size} for path, size in listed]
    if only_files and skill is not None:
        output.show(mode, files, "\n".join(f"{size:>10,}  {path}" for path, size in listed))
        return 0
    if skill.kind == "executable" if skill else name in installed.names():
        raise InputError(
            f"{name!r} is a tool and has no SKILL.md to show", hint=f"run it with `goalwright skills call {name}`"
        )
    content = registry.load_content(name, arguments)  # raises for an unknown name
    warn(registry, verbose=mode.verbose, quiet=True)
    needed = needs(skill) if skill is not None else ()
    tasks = task_capabilities(skills, installed_tools(skills.preferences, everything=False)) if needed else frozenset()
    if mode.as_json and skill is not None:
        rows = [{"what": need.capability, "available": need.capability in tasks, "said": need.text} for need in needed]
        output.print_json(skill.to_dict() | {"needs": rows, "content": content, "files": files})
        return 0
    if needed and not mode.quiet:
        off = " ".join(_FLAGS[need.capability] for need in needed if need.capability not in tasks)
        output.say(f"{name} needs {describe(needed, tasks)}" + (f" (a run has it with {off})" if off else ""))
    output.print_text(content)
    return 0
