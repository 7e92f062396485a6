"""`weft skills`: what there is, what fits, and what stands in one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from weft.cli import options, output

if TYPE_CHECKING:
    from pathlib import Path

    from skills.registry import Registry
    from skills.skill import Skill
    from weft.surroundings import Surroundings


@click.group()
def skills() -> None:
    """Skills: folders with a SKILL.md that say how something is done.

    \b
    Examples:
      weft skills list --all
      weft skills select "Write API documentation"
      weft skills show cataloging-apis
    """


@skills.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those shadowed, disabled or broken, with the reason.")
@options.skills
@options.common
def list_skills(workspace: Path, *, everything: bool, as_json: bool, quiet: bool, verbose: bool, **flags: Any) -> int:
    """List the skills that are found, by precedence."""
    registry = _surroundings(workspace, flags, quiet=quiet).registry
    rows = registry.list_skills(all=everything)
    _warn(registry, verbose=verbose, quiet=quiet or everything)
    if as_json:
        output.print_json([_row(skill) for skill in rows])
    else:
        _print_table(rows)
    return 0


@skills.command("select")
@click.argument("goal")
@options.skills
@options.common
def select(goal: str, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool, **flags: Any) -> int:
    """Say which skills fit GOAL, how well, and why; no model is asked."""
    from weft.goal import Goal

    surroundings = _surroundings(workspace, flags, quiet=quiet)
    wanted = Goal(options.goal_text(goal))
    found = surroundings.select(wanted, surroundings.context_skills())
    _warn(surroundings.registry, verbose=verbose, quiet=quiet)
    if as_json:
        chosen = [{"name": one.name, "score": one.score, "reason": one.reason} for one in found]
        output.print_json({"goal": wanted.text, "selected": chosen})
        return 0
    for one in found:
        output.print_text(f"{one.score:.2f}  {one.name}  {one.reason}")
    if not found:
        output.say("No skill fits this goal. `weft skills list` shows what there is.")
    return 0


@skills.command("show")
@click.argument("name")
@click.option("--args", "arguments", default="", help="What takes the place of $ARGUMENTS.")
@options.common
def show(name: str, arguments: str, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Show a skill as a task receives it."""
    registry = _surroundings(workspace, {}, quiet=quiet).registry
    content = registry.load_content(name, arguments)
    _warn(registry, verbose=verbose, quiet=True)
    skill = registry.get(name)
    if as_json and skill is not None:
        output.print_json(_row(skill) | {"content": content})
    else:
        output.print_text(content)
    return 0


def _surroundings(workspace: Path, flags: dict[str, Any], *, quiet: bool) -> Surroundings:
    from weft.surroundings import Surroundings

    where = options.places(workspace)
    return Surroundings(where, options.settings(where, flags, quiet=quiet).settings)


def _warn(registry: Registry, *, verbose: bool, quiet: bool) -> None:
    from skills.registry import summary

    problems = registry.warnings
    if quiet and not verbose:
        return
    for text in map(str, problems) if verbose else summary(problems):
        output.say_warning(text)


def _row(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "path": os.fspath(skill.path),
        "base_dir": os.fspath(skill.base_dir),
        "source": skill.source,
        "kind": skill.kind,
        "state": skill.state,
        "reason": skill.reason,
    }


def _print_table(rows: list[Skill]) -> None:
    if not rows:
        output.say("No skills are found. `weft doctor` shows where they are looked for.")
        return
    width = min(max(len(skill.name) for skill in rows), 40)
    for skill in rows:
        state = "" if skill.state == "active" else f"[{skill.state}: {skill.reason}] "
        first = " ".join(skill.description.split())[:100]
        output.print_text(f"{skill.name:<{width}}  {skill.source:<9}  {state}{first}")
