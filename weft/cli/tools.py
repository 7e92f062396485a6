"""`weft skills new|check|call`: for those who write skills and tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from weft.cli import options, output

if TYPE_CHECKING:
    from skills.check import Report
    from weft.toolshed import Toolshed

_MAKERS = ("SKILL.md", "skill.yaml")
RUNTIMES = ("python", "node", "go", "binary")


@click.command("new")
@click.argument("name")
@click.option("--runtime", type=click.Choice(RUNTIMES), default="python", show_default=True)
@options.common
def new(name: str, runtime: Any, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Write a tool that works and passes the check, for you to change.

    \b
    Examples:
      weft skills new word-count
      weft skills new image_resize --runtime node
    """
    from skills.new import new as write

    written = write(name, runtime, options.places(workspace).workspace / "skills")
    if as_json:
        output.print_json({"written": [str(path) for path in written]})
    else:
        output.print_text("\n".join(str(path) for path in written))
        output.say(f"Try it: weft skills check {written[0].parent}")
    return 0


@click.command("call")
@click.argument("name")
@click.argument("arguments", metavar="JSON", default="{}")
@options.tools
@options.common
def call(
    name: str, arguments: str, workspace: Path, *, trust: bool, unsafe_tools: bool | None, as_json: bool, quiet: bool,
    verbose: bool,
) -> int:  # fmt: skip
    """Run a tool by hand and print its envelope. `-` reads the arguments from stdin.

    \b
    Examples:
      weft skills call excel_info '{"path": "data/report.xlsx"}'
      weft skills call word_count_run '{"text": "one two"}' --trust
    """
    import asyncio  # not above: `weft skills list` imports this module too, and must start at once

    from skills.registry import listed
    from weft.cli import trusting

    shed = toolshed(workspace, unsafe=unsafe_tools, quiet=quiet)
    given = _object(options.goal_text(arguments))
    tools = shed.tools(log=_say if not quiet else None, progress=output.say if not quiet else None)
    if name not in tools:
        near = listed(name, list(tools))
        raise InputError(f"there is no tool {name!r}; tools are: {near}", hint="call one of these by its name")
    trusting.settle(shed, trust=trust, quiet=quiet)
    envelope = asyncio.run(tools[name].call(given))
    if as_json:
        output.print_json(envelope.to_dict())
    else:
        output.print_text(envelope.text)
    return 1 if envelope.status == "error" else 0


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

    PATH is a skill's folder or a folder of skills (default: the workspace's own).

    \b
    Examples:
      weft skills check
      weft skills check skills/word-count --fix
    """
    import asyncio

    from skills import check as checks

    shed = toolshed(workspace, unsafe=unsafe_tools, quiet=quiet)
    folders = _folders(paths, options.places(workspace).workspace)
    for done in (line for folder in folders if mend for line in checks.fix(folder)):
        output.say(f"mended: {done}")
    if trust:
        shed.trust_all()
    reports = asyncio.run(_review(folders, shed, run=not no_run))
    if not paths:
        reports += _functions(shed)
    if as_json:
        output.print_json([report.to_dict() for report in reports])
    else:
        _print(reports, quiet=quiet)
    return 1 if any(not report.to_dict()["ok"] for report in reports) else 0


def toolshed(workspace: Path, *, unsafe: bool | None, quiet: bool) -> Toolshed:
    """The tools of a workspace."""
    from weft.shelf import Shelf
    from weft.toolshed import Toolshed

    where = options.places(workspace)
    settings = options.settings(where, {"unsafe_tools": unsafe}, quiet=quiet).settings
    return Toolshed(where, Shelf(where, settings).registry, unsafe=settings.unsafe_tools)


async def _review(folders: list[Path], shed: Toolshed, *, run: bool) -> list[Report]:
    from skills import check as checks

    reports: list[Report] = []
    for folder in folders:
        place = shed.bench(folder) if run else None
        reports += await checks.review(folder, place)
    return reports


def _functions(shed: Toolshed) -> list[Report]:
    """The tools of installed packages, with their pages where this is a checkout that has them."""
    from skills import check as checks
    from skills.inprocess import FunctionTool

    found = [tool for tool in shed.functions[0] if isinstance(tool, FunctionTool)]
    reports: list[Report] = []
    for domain in dict.fromkeys(tool.name.partition("_")[0] for tool in found):
        page = Path("docs") / "skills" / f"{domain}.md"
        if page.is_file():
            reports += checks.review_function([tool for tool in found if tool.name.startswith(f"{domain}_")], page)
    return reports


def _folders(paths: tuple[Path, ...], workspace: Path) -> list[Path]:
    """The folders that are skills, at or below the paths; all of the workspace's where none is given."""
    given = list(paths) or [
        folder for name in (".agents/skills", "skills", ".skills") if (folder := workspace / name).is_dir()
    ]
    found: dict[Path, None] = {}
    for path in given:
        if not path.exists():
            raise InputError(f"there is no {path}", hint="give a skill's folder or its SKILL.md")
        if path.is_file() and path.name not in _MAKERS:
            hint = f"give a skill's folder, or one of these: {', '.join(_MAKERS)}"
            raise InputError(f"{path} is no file that makes a skill", hint=hint)
        if not path.is_file() and not path.is_dir():
            raise InputError(f"{path} is neither a file nor a folder", hint="give a skill's folder or its SKILL.md")
        top = path.parent if path.is_file() else path
        makers = (one for name in _MAKERS for one in sorted(top.rglob(name)))
        found.update(dict.fromkeys(one.parent for one in makers))
        if not any(one.is_relative_to(top) for one in found):
            found[top] = None
    return list(found)


def _print(reports: list[Report], *, quiet: bool) -> None:
    for report in reports:
        for one in report.problems:
            line = f"{report.path}:{one.line}: {one.severity} {one.rule}: {one.message}; {one.remedy}"
            output.print_text(line)
    errors = sum(one.severity == "error" for report in reports for one in report.problems)
    if not quiet:
        output.say(f"{len(reports)} files checked, {errors} errors")


def _object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise InputError(f"the arguments are no JSON: {error}", hint="""give an object: '{"path": "x"}'""") from error
    if not isinstance(given, dict):
        raise InputError("the arguments must be a JSON object", hint="""such as '{"path": "x"}'""")
    return given


def _say(log: Any) -> None:
    for text in (log.log, log.stderr):
        if text.strip():
            output.say(text.rstrip())
