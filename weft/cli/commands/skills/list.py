"""`weft skills list`: the skills that are found, strongest location first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from weft.cli import options
from weft.cli.commands.skills.workspace import installed_tools, open_skills, warn
from weft.cli.view import output, width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.skill import Skill


@click.command("list")
@click.option(
    "--all", "everything", is_flag=True, help="Include shadowed, disabled and broken skills, with the reason."
)
@options.skills
@options.common
def list_skills(workspace: Path, *, everything: bool, as_json: bool, quiet: bool, verbose: bool, **flags: Any) -> int:
    """List the skills, strongest location first.

    \b
    Examples:
      weft skills list
      weft skills list --all --json
    """
    registry = open_skills(workspace, flags, quiet=quiet).registry
    rows = [*registry.list_skills(all=everything), *installed_tools(everything=everything)]
    warn(registry, verbose=verbose or everything, quiet=quiet)
    if as_json:
        output.print_json([skill.to_dict() for skill in rows])
    else:
        _print_table(rows)
    return 0


def _print_table(rows: Sequence[Skill]) -> None:
    if not rows:
        output.say("No skills found. `weft doctor` shows where weft looks for them.")
        return
    room = width.of(sys.stdout)
    widest = 40 if room is None else max(room // 3, 16)
    names = min(max(len(skill.name) for skill in rows), widest)
    output.print_lines(_line(skill, names, room) for skill in rows)


def _line(skill: Skill, names: int, room: int | None) -> str:
    """A skill in one line; on a terminal the description is cut to fit, but a reason never is."""
    state = "" if skill.state == "active" else f"[{_state(skill)}] "
    head = f"{skill.name.ljust(names)}  {skill.source.ljust(9)}  {state}"
    text = skill.description
    if room is not None:
        description = output.escape_controls(" ".join(text[: 2 * room].split()))
        return head + width.cut(description, room - len(head))
    return head + (" ".join(text.split()) if "\n" in text else text)  # splitting thousands would take long


def _state(skill: Skill) -> str:
    """A state with its reason, which usually begins with the state."""
    reason = skill.reason or ""
    return reason if reason.startswith(skill.state) else f"{skill.state}: {reason}"
