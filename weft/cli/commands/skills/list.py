"""`weft skills`: what there is, what fits, and what stands in one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from weft.cli import options
from weft.cli.view import output, width
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.discovery.registry import Registry
    from skills.selection.detector import Selection, SkillDetector
    from skills.skill import Skill
    from weft.workspace.skills import WorkspaceSkills

Choose = Callable[[str, tuple[str, ...]], "list[Selection]"]


# Commands with a home of their own, imported when they are used: `weft skills list` must start at once.
_ELSEWHERE = {
    "add": "weft.cli.commands.skills.manage:add",
    "import": "weft.cli.commands.skills.manage:import_skill",
    "delete": "weft.cli.commands.skills.manage:delete",
    "files": "weft.cli.commands.skills.manage:files",
    "new": "weft.cli.commands.skills.tools:new",
    "check": "weft.cli.commands.skills.check:check",
    "call": "weft.cli.commands.skills.tools:call",
}


class _Skills(click.Group):
    """The commands of this module, and those elsewhere."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, _, name = _ELSEWHERE[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=_Skills)
def skills() -> None:
    """Skills: folders with a SKILL.md that say how something is done.

    \b
    Examples:
      weft skills list --all
      weft skills select "Write API documentation"
      weft skills show cataloging-apis
      weft skills add release-notes --description "Write release notes from a list of changes."
      weft skills import ~/Downloads/some-skill.zip
    """


@skills.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those shadowed, disabled or broken, with the reason.")
@options.skills
@options.common
def list_skills(workspace: Path, *, everything: bool, as_json: bool, quiet: bool, verbose: bool, **flags: Any) -> int:
    """List the skills that are found, by precedence.

    \b
    Examples:
      weft skills list
      weft skills list --all --json
    """
    registry = open_skills(workspace, flags, quiet=quiet).registry
    rows = [*registry.list_skills(all=everything), *_functions(everything)]
    _warn(registry, verbose=verbose or everything, quiet=quiet)
    if as_json:
        output.print_json([_row(skill) for skill in rows])
    else:
        _print_table(rows)
    return 0


@skills.command("select")
@click.argument("goal", required=False)
@click.option("--from", "source", metavar="FILE", help="Every goal of a file, as `weft batch` takes it; JSON lines.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="The N best, however poor they are.")
@click.option("--model", metavar="NAME", help="With --detector llm: the model that picks (default: as for a run).")
@options.skills
@options.common
def select(
    goal: str | None, source: str | None, top: int | None, workspace: Path, *, as_json: bool, quiet: bool,
    verbose: bool, **flags: Any,
) -> int:  # fmt: skip
    """Say which skills fit GOAL, how well, and why.

    \b
    Examples:
      weft skills select "Write API documentation"
      weft skills select --top 10 "Write API documentation"
      weft skills select --from goals.jsonl > selected.jsonl
      weft skills select --detector llm --model openai/gpt-4o-mini "Write API documentation"
    """
    if (goal is None) == (source is None):
        raise InputError("give either a goal or --from FILE", hint='weft skills select "Write API documentation"')
    from skills.selection import detectors
    from weft.workspace.skills import WorkspaceSkills

    where = options.paths(workspace)
    settings = options.settings(where, flags, quiet=quiet).settings
    known, mode = WorkspaceSkills(where, settings), OutputMode(as_json, quiet, verbose)

    def work(detector: SkillDetector | None = None) -> int:
        choose = partial(_selected, known, top, detector)
        if source is None:
            return _select_one(choose, known, goal, mode)
        _select_all(choose, source)
        _warn(known.registry, verbose=verbose, quiet=quiet)
        return 0

    if settings.detector != detectors.ASKING:
        return work()
    from weft.cli.commands.skills import llm_selection

    return llm_selection.asked(where.workspace, settings, mode, work)


def _select_one(choose: Choose, known: WorkspaceSkills, goal: str | None, mode: OutputMode) -> int:
    text = options.goal_text(goal)
    found = choose(text, ())
    _warn(known.registry, verbose=mode.verbose, quiet=mode.quiet)
    if mode.as_json:
        output.print_json({"goal": text, "selected": _plain(found)})
        return 0
    for one in found:
        output.print_text(f"{one.score:.2f}  {one.name}  {one.reason}")
    if not found and not mode.quiet:
        output.say("No skill fits this goal. `weft skills list` shows what there is; --top 5 shows the nearest.")
    return 0


@skills.command("show")
@click.argument("name")
@click.option("--args", "arguments", default="", help="What takes the place of $ARGUMENTS.")
@options.common
def show(name: str, arguments: str, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Show a skill as a task receives it.

    \b
    Examples:
      weft skills show cataloging-apis --args "only the public endpoints"
    """
    registry = open_skills(workspace, {}, quiet=quiet).registry
    skill = registry.get(name)
    if skill.kind == "executable" if skill else name in {row.name for row in _functions(everything=False)}:
        raise InputError(f"{name!r} is a tool, without a SKILL.md to show", hint=f"`weft skills call {name}` runs it")
    content = registry.load_content(name, arguments)
    _warn(registry, verbose=verbose, quiet=True)
    if as_json and skill is not None:
        output.print_json(_row(skill) | {"content": content})
    else:
        output.print_text(content)
    return 0


def open_skills(workspace: Path, flags: dict[str, Any], *, quiet: bool) -> WorkspaceSkills:
    """The skills of a workspace."""
    from weft.workspace.skills import WorkspaceSkills

    where = options.paths(workspace)
    return WorkspaceSkills(where, options.settings(where, flags, quiet=quiet).settings)


def _selected(
    known: WorkspaceSkills, top: int | None, detector: SkillDetector | None, text: str, forced: tuple[str, ...]
) -> list[Selection]:
    candidates = known.active()
    if not text.strip():
        raise InputError("the goal is empty", hint='weft skills select "Write API documentation"')
    if top is None:
        return known.select(text, forced, candidates, detector)
    return known.best(text, candidates, top, detector)


def _select_all(choose: Choose, source: str) -> None:
    from weft.batch import goals

    with goals.opened(source) as file:
        for one in file:
            found = choose(one.text, one.skills)
            output.print_json({"id": one.id, "goal": one.text, "selected": _plain(found)}, indent=None)


def _plain(found: Sequence[Selection]) -> list[dict[str, Any]]:
    return [{"name": one.name, "score": one.score, "reason": one.reason} for one in found]


def _warn(registry: Registry, *, verbose: bool, quiet: bool) -> None:
    from skills.discovery.registry import summary

    if quiet and not verbose:
        return
    problems = registry.warnings
    for text in map(str, problems) if verbose else summary(problems):
        output.say_warning(text)


def _row(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "path": skill.file,
        "base_dir": os.path.dirname(skill.file),  # noqa: PTH120  there may be thousands
        "source": skill.source,
        "kind": skill.kind,
        "state": skill.state,
        "reason": skill.reason,
    }


def _functions(everything: bool) -> list[Skill]:
    """The tools of installed packages, as rows; those switched off only where all are asked for."""
    from skills.functions import installed

    return [row for row in installed.rows(os.environ) if everything or row.state == "active"]


def _print_table(rows: Sequence[Skill]) -> None:
    if not rows:
        output.say("No skills are found. `weft doctor` shows where they are looked for.")
        return
    room = width.of(sys.stdout)
    widest = 40 if room is None else max(room // 3, 16)
    names = min(max(len(skill.name) for skill in rows), widest)
    output.print_lines(_line(skill, names, room) for skill in rows)


def _line(skill: Skill, names: int, room: int | None) -> str:
    """A skill in a line; on a terminal its description has what room there is, and a reason is never cut."""
    state = "" if skill.state == "active" else f"[{_standing(skill)}] "
    head = f"{skill.name.ljust(names)}  {skill.source.ljust(9)}  {state}"
    text = skill.description
    if room is not None:
        said = output.shown(" ".join(text[: 2 * room].split()))
        return head + width.cut(said, room - len(head))
    return head + (" ".join(text.split()) if "\n" in text else text)  # splitting thousands takes its time


def _standing(skill: Skill) -> str:
    """A state with its reason, which most often begins with it."""
    reason = skill.reason or ""
    return reason if reason.startswith(skill.state) else f"{skill.state}: {reason}"
