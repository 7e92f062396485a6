"""`goalwright skills list`: the skills that are found, strongest location first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.mcp.server_table import server_states
from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills, warn
from goalwright.interfaces.cli.view import output, width
from goalwright.workspace import skill_list
from goalwright_skills.discovery.needs import needs, told

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_skills.preferences import Preferences
    from goalwright_skills.skill import Skill

# Of more skills, only the frontmatter is asked for what they need.
_MOST_BODIES = 1_000


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


def _notes(skill: Skill, decided: Sequence[str], able: Collection[str], *, bodies: bool) -> str:
    """Why a skill is not used, or what was decided about it, and what it needs and tasks here do not have."""
    if skill.state != "active":
        return f"[{_state(skill)}] "
    missing = [need for need in needs(skill, body=bodies) if need.what not in able]
    notes = [*decided, *([f"needs {told(missing, able)}"] if missing else [])]
    return "".join(f"[{note}] " for note in notes)


def _line(skill: Skill, notes: str, names: int, room: int | None) -> str:
    """A skill in one line; on a terminal the description is cut to fit, but a note never is."""
    head = f"{skill.name.ljust(names)}  {skill.source.ljust(9)}  {notes}"
    text = skill.description
    if room is not None:
        description = output.escape_controls(" ".join(text[: 2 * room].split()))
        return head + width.cut(description, room - len(head))
    return head + (" ".join(text.split()) if "\n" in text else text)  # splitting thousands would take long


def _state(skill: Skill) -> str:
    """A state with its reason, which usually begins with the state."""
    reason = skill.reason or ""
    return reason if reason.startswith(skill.state) else f"{skill.state}: {reason}"
