"""`weft skills check`: what a good reviewer says of skills and tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from skills.text.plural import counted
from weft.cli import options
from weft.cli.commands.skills.tools import open_tools
from weft.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skills.check import Report
    from weft.workspace.tools import WorkspaceTools

MAKERS = ("SKILL.md", "skill.yaml")
SKIPPED = frozenset({".git", "__pycache__", "node_modules", ".venv", "venv", "site-packages"})


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fix", "mend", is_flag=True, help="Mend what is mechanical, then check.")
@click.option("--no-run", is_flag=True, help="Do not run tools.")
@options.tools
@options.common
def check(
    paths: tuple[Path, ...], workspace: Path, *, mend: bool, no_run: bool, trust: bool, unsafe_tools: bool | None,
    as_json: bool, quiet: bool, verbose: bool,
) -> int:  # fmt: skip
    """Check skills and tools as a good reviewer would; tools are run once well and once badly.

    PATH is a skill's folder or a folder of skills (default: the workspace's own). A tool that is not trusted yet runs
    without the network and the variables that it asks for.

    \b
    Examples:
      weft skills check
      weft skills check skills/word-count --fix

    Exit status: 0 no error (there may be warnings), 1 an error stands, 2 wrong usage.
    """
    import asyncio

    from skills import check as checks

    tools = open_tools(workspace, unsafe=unsafe_tools, trust=trust, quiet=quiet)
    folders = _given(paths) if paths else tools.own_folders()
    for folder in folders if mend else ():
        for done in checks.fix(folder, root=tools.is_root(folder)):
            if not quiet:
                output.say(f"mended: {done}")
    if trust:
        tools.trust_all(folder for folder in folders if (folder / "skill.yaml").is_file())
    say = _silent if quiet else output.say
    reports = asyncio.run(_review(folders, tools, say, run=not no_run))
    if not paths:
        reports += _functions(tools, options.paths(workspace).workspace)
    if as_json:
        output.print_json([_row(report) for report in reports])
    else:
        _print(reports, quiet=quiet)
    return 0 if all(report.ok for report in reports) else 1


async def _review(
    folders: Sequence[Path], tools: WorkspaceTools, say: Callable[[str], None], *, run: bool
) -> list[Report]:
    """A report on each file; `say` hears of what is built meanwhile, which may take long."""
    import tempfile

    from skills import check as checks

    reports: list[Report] = []
    with tempfile.TemporaryDirectory(prefix="weft-check-") as made:
        for folder in folders:
            place = tools.trial_host(folder, Path(made), say) if run else None
            reports += await checks.review(folder, place, root=tools.is_root(folder))
    return reports


def _silent(_: str) -> None:
    """For whoever wants no progress."""


def _functions(tools: WorkspaceTools, workspace: Path) -> list[Report]:
    """The tools of installed packages that this workspace documents or makes."""
    from skills import check as checks

    found, reports = tools.functions[0], []
    for domain in dict.fromkeys(tool.name.partition("_")[0] for tool in found):
        page = workspace / "docs" / "skills" / f"{domain}.md"
        own_tools = [tool for tool in found if tool.name.startswith(f"{domain}_")]
        own = any(workspace in Path(tool.function.__code__.co_filename).resolve().parents for tool in own_tools)
        if page.is_file() or own:
            reports += checks.review_function(own_tools, page)
    return reports


def _given(paths: Sequence[Path]) -> list[Path]:
    """The folders that are skills, at or below the paths; a path with none below stands for itself."""
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists() or (path.is_file() and path.name not in MAKERS):
            what = f"there is no {path}" if not path.exists() else f"{path} is no skill's file"
            raise InputError(what, hint="give a skill's folder, its SKILL.md or its skill.yaml")
        makers = [path.parent] if path.is_file() else list(_below(path)) or [path]
        found.update(dict.fromkeys(makers))
    return list(found)


def _below(top: Path) -> Iterator[Path]:
    """Every folder with a skill, in path order; what package managers put there is passed over."""
    for root, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        if any(name in MAKERS for name in names):
            yield Path(root)


def _row(report: Report) -> dict[str, Any]:
    """A report as JSON; a message says how to mend what it names."""
    problems = [
        {"rule": one.rule, "severity": one.severity, "line": one.line, "message": f"{one.message}; {one.remedy}"}
        for one in report.problems
    ]
    return {"path": str(report.path), "ok": report.ok, "problems": problems}


def _print(reports: list[Report], *, quiet: bool) -> None:
    for report in reports:
        for one in report.problems:
            line = f"{report.path}:{one.line}: {one.severity} {one.rule}: {one.message}; {one.remedy}"
            output.print_text(line)
    if not quiet:
        severities = [one.severity for report in reports for one in report.problems]
        errors, warnings = (counted(severities.count(kind), kind) for kind in ("error", "warning"))
        output.say(f"{counted(len(reports), 'file')} checked, {errors}, {warnings}")
