"""`goalwright skills check`: find problems in skills and tools, and skills that overlap."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.skills.open_workspace import open_workspace
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.workspace.tools import WorkspaceTools
    from goalwright_skills.check import Finding, Report

SKILL_FILES = ("SKILL.md", "skill.yaml")
# Pairs that --overlap shows by default.
_OVERLAPS = 50
SKIPPED = frozenset({".git", "__pycache__", "node_modules", ".venv", "venv", "site-packages"})


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fix", is_flag=True, help="Fix mechanical problems, then check.")
@click.option("--no-run", is_flag=True, help="Do not run the tools.")
@click.option("--overlap", is_flag=True, help="Show pairs of skills that compete for the same goals instead.")
@click.option(
    "--goals",
    "goal_file",
    metavar="FILE",
    help="With --overlap: goals to compare on, in the format of `goalwright skills eval` (`-`: stdin).",
)
@click.option("--skill", metavar="NAME", help="With --overlap: only the pairs of this skill.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="With --overlap: at most N pairs (default: 50).")
@options.skills
@options.trust
@options.common
def check(
    paths: tuple[Path, ...],
    goal_file: str | None,
    skill: str | None,
    limit: int | None,
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    fix: bool,
    no_run: bool,
    overlap: bool,
    trust: bool,
) -> int:
    """Check skills and tools for problems, or for overlap.

    PATHS are skill folders, or files SKILL.md or skill.yaml (default: the workspace's own skills). Trusted tools are
    run twice: with their first example and with wrong arguments. Untrusted tools are not built or run without --trust.

    --overlap shows pairs of skills that compete for the same goals, by the phrases of their descriptions. With --goals,
    two skills compete for a goal if one is selected or ranks first and the other was expected, or if both are selected
    and none was expected.

    \b
    Examples:
      goalwright skills check
      goalwright skills check skills/word-count --fix
      goalwright skills check --overlap
      goalwright skills check --overlap --goals goals.jsonl --json

    Exit status: 0 no errors (there may be warnings), 1 errors found, 2 wrong usage.
    """
    import asyncio

    from goalwright_skills import check as checks

    if overlap:
        from goalwright.interfaces.cli.commands.skills.overlap import print_overlap

        if paths or fix or no_run:
            raise InputError("--overlap compares all skills", hint="leave out PATHS, --fix and --no-run")
        return print_overlap(goal_file, skill, limit or _OVERLAPS, workspace, flags, mode)
    if goal_file is not None or skill is not None or limit is not None:
        raise InputError("--goals, --skill and --limit need --overlap", hint="add --overlap")
    tools = open_workspace(workspace, flags, trust=trust, quiet=mode.quiet).tools
    folders = _skill_folders(paths) if paths else tools.own_folders()
    for folder in folders if fix else ():
        for done in checks.fix(folder, root=tools.is_root(folder)):
            if not mode.quiet:
                output.say(f"fixed: {done}")
    if trust:
        tools.trust_all(folder for folder in folders if (folder / "skill.yaml").is_file())
    say = _silent if mode.quiet else output.say
    reports = asyncio.run(_review(folders, tools, say, _offered(workspace, flags), run=not no_run))
    if not paths:
        reports += _functions(tools, configuration.paths(workspace).workspace)
    if mode.as_json:
        output.print_json([report.to_dict() for report in reports])
    else:
        _print(reports, quiet=mode.quiet)
    return 0 if all(report.ok for report in reports) else 1


async def _review(
    folders: Sequence[Path], tools: WorkspaceTools, say: Callable[[str], None], offered: Sequence[str], *, run: bool
) -> list[Report]:
    """Return a report for each file; `say` gets the progress of builds."""
    import tempfile

    from goalwright_skills import check as checks
    from goalwright_skills.builtin import toolset

    reports: list[Report] = []
    able = tools.capabilities(tools.by_name()) | toolset.capabilities(offered)
    with tempfile.TemporaryDirectory(prefix="goalwright-check-") as made:
        for folder in folders:
            place = tools.trial_host(folder, Path(made), say) if run else None
            reports += await checks.review(folder, place, root=tools.is_root(folder), able=able)
    return reports


def _offered(workspace: Path, flags: SettingFlags) -> Sequence[str]:
    """Return the built-in tools that the settings give to tasks."""
    return configuration.settings(configuration.paths(workspace), flags, quiet=True).settings.tool_set


def _silent(_: str) -> None:
    """Print no progress."""


def _functions(tools: WorkspaceTools, workspace: Path) -> list[Report]:
    """Return reports for tools of installed packages that this workspace documents or contains."""
    from goalwright_skills import check as checks

    functions, reports = tools.functions[0], []
    for domain in dict.fromkeys(tool.name.partition("_")[0] for tool in functions):
        page = workspace / "docs" / "skills" / f"{domain}.md"
        own_tools = [tool for tool in functions if tool.name.startswith(f"{domain}_")]
        own = any(workspace in Path(tool.function.__code__.co_filename).resolve().parents for tool in own_tools)
        if page.is_file() or own:
            reports += checks.review_function(own_tools, page)
    return reports


def _skill_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the skill folders at or below the paths; a path without one is returned itself."""
    all_folders: dict[Path, None] = {}
    for path in paths:
        if not path.exists() or (path.is_file() and path.name not in SKILL_FILES):
            fault = f"{path} does not exist" if not path.exists() else f"{path} is not a SKILL.md or skill.yaml"
            raise InputError(fault, hint="give a skill's folder, its SKILL.md or its skill.yaml")
        folders = [path.parent] if path.is_file() else list(_below(path)) or [path]
        all_folders.update(dict.fromkeys(folders))
    return list(all_folders)


def _below(top: Path) -> Iterator[Path]:
    """Yield every folder with a skill, in path order, except those of package managers."""
    for root, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        if any(name in SKILL_FILES for name in names):
            yield Path(root)


def _flag(problem: Finding) -> str:
    if problem.fixable:
        return " (or use --fix)"
    return " (--trust)" if problem.rule == "run-trust" else ""


def _print(reports: list[Report], *, quiet: bool) -> None:
    for report in reports:
        for problem in report.problems:
            where = f"{spelled(report.path)}:{problem.line}"
            remedy = f"{problem.remedy}{_flag(problem)}"
            output.print_text(f"{where}: {problem.severity} {problem.rule}: {problem.message}; {remedy}")
    if not quiet:
        severities = [problem.severity for report in reports for problem in report.problems]
        errors, warnings = (counted(severities.count(kind), kind) for kind in ("error", "warning"))
        output.say(f"{counted(len(reports), 'file')} checked, {errors}, {warnings}")
