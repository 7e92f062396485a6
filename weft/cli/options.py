"""Options that several commands share, and how they become settings."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import click

from skills.errors import InputError
from weft.cli.view import output

if TYPE_CHECKING:
    from weft.settings.paths import Paths
    from weft.settings.settings import Resolved

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path)
_WORKSPACE = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(),
    help="The folder to work in (default: the current one).",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Only the result and errors: no progress, no remarks.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Every warning and event.")
_STRICT = click.option(
    "--strict-skills", is_flag=True, default=None, help="Drop skills whose name is not as it must be."
)
_TRUST = click.option("--trust", is_flag=True, help="Trust this workspace's tools and settings as they are now.")
_UNSAFE = click.option(
    "--unsafe-tools", is_flag=True, default=None, help="Run tools without confinement where none is possible."
)
_DETECTOR = click.option("--detector", metavar="NAME", help="How skills are selected (default: ranked).")


def common(command: Command) -> Command:
    """--workspace, --json, -q and -v."""
    for option in (_VERBOSE, _QUIET, _JSON, _WORKSPACE):
        command = option(command)
    return command


def skills(command: Command) -> Command:
    """How skills are found and selected."""
    for option in (_STRICT, _DETECTOR):
        command = option(command)
    return command


def tools(command: Command) -> Command:
    """Whether a workspace's tools may run."""
    for option in (_UNSAFE, _TRUST):
        command = option(command)
    return command


def journal(command: Command) -> Command:
    """Where runs are kept."""
    text = "Where runs are kept: sqlite:///PATH, or just a path (default: .agents/journal.sqlite in the workspace)."
    return click.option("--journal", metavar="URL|PATH", help=text)(command)


def _named(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files; tasks read them by their names, long after stdin is gone."""
    if Path("-") in files:
        raise InputError(
            "--file - has no name that a task could read it by", hint="write it to a file first, and name that"
        )
    return files


def goal(command: Command) -> Command:
    """What a person gives with a goal."""
    for option in (
        click.option("--answer", "answers", multiple=True, metavar="TEXT", help="The answer to a question it asked."),
        click.option(
            "--file", "files", multiple=True, type=_FILE, callback=_named, help="A file that belongs to the goal."
        ),
        click.option(
            "--skill", "skill", multiple=True, metavar="NAME", help="Use this skill, whatever the detector says."
        ),
    ):
        command = option(command)
    return command


def written(text: str = "Write the answer to this file.", *, required: bool = False) -> Callable[[Command], Command]:
    """-o, with what it takes; `-` is stdout, where things go anyway unless a file is required."""

    def stdout(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
        if value != Path("-"):
            return value
        if required:
            raise InputError("-o - is no file, and what is written must last", hint="name a file")
        return None

    return click.option("-o", "--output", "target", type=_FILE, required=required, help=text, callback=stdout)


def or_stdin(context: click.Context, _: click.Parameter, value: Any) -> Any:
    """For arguments that name files: `-` stands for a copy of stdin, which is gone when the command ends."""
    if isinstance(value, tuple):
        return tuple(or_stdin(context, _, one) for one in value)
    if str(value) != "-":
        return value
    import shutil  # not above: every command imports this module
    import tempfile

    spool = tempfile.NamedTemporaryFile(prefix="weft-stdin-", suffix=".jsonl")  # noqa: SIM115 - closed with the command
    context.call_on_close(spool.close)
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    return type(value)(spool.name)


def concurrency(command: Command) -> Command:
    """How many tasks run at a time."""
    return click.option("--max-concurrency", type=int, help="Tasks that run at a time (default: 16).")(command)


def fetching(command: Command) -> Command:
    """Whether a local model is fetched without asking."""
    return click.option("--yes", is_flag=True, help="Fetch a local model that is not here yet without asking.")(command)


def models(command: Command) -> Command:
    """Which model, and what it may spend."""
    for option in (
        click.option("--timeout", type=float, help="Seconds that the run may take."),
        click.option("--max-tokens", type=int, help="Tokens that the run may use."),
        click.option("--max-cost", type=float, help="US dollars that the run may cost."),
    ):
        command = option(command)
    return named_models(command)


def named_models(command: Command) -> Command:
    """Which model, and which ones behind it."""
    for option in (
        click.option("--fallback", multiple=True, metavar="NAME", help="A model to go on with where the first fails."),
        click.option("--model", metavar="NAME", help="A litellm model name, or 'local' for the embedded one."),
    ):
        command = option(command)
    return command


def paths(workspace: Path) -> Paths:
    """Where things lie for a workspace."""
    from weft.settings.paths import Paths

    return Paths.of(workspace, os.environ)


def settings(where: Paths, flags: dict[str, Any], *, quiet: bool = False) -> Resolved:
    """The settings in force; what was passed over is said."""
    from weft.settings.settings import InvalidSettings, resolve

    given = {key: value for key, value in flags.items() if value not in (None, ())}
    try:
        resolved = resolve(given, os.environ, where.workspace, where.user_config, trusted=is_trusted(where))
    except InvalidSettings as error:
        said = "; ".join(re.sub(r"^'(\w+)'", _as_option, text) for text in error.faults)
        raise InputError(said, hint="`--help` says what each option takes") from error
    for warning in resolved.warnings:
        if not quiet:
            output.say_warning(warning)
    return resolved


def _as_option(name: re.Match[str]) -> str:
    return "--" + name.group(1).replace("_", "-")


def tell_journal(where: Paths, resolved: Resolved, *, quiet: bool) -> None:
    """Say where a journal is about to be made that was named: a slip in its name would make one silently."""
    from weft.runs import records

    if resolved.settings.journal and not quiet:
        url = records.url(where, resolved.settings)
        if url.startswith("sqlite:///") and not Path(unquote(url.removeprefix("sqlite:///"))).exists():
            output.say(f"a new journal is made: {url}")


def is_trusted(where: Paths) -> bool:
    """Whether the user trusts the workspace's settings as they are."""
    if not (where.workspace / "weft.toml").is_file():
        return False
    from skills.programs.trust import Trust  # not sooner: few workspaces have settings, and it takes its time

    return Trust(where.trust).trusts_workspace(where.workspace)


def goal_text(goal: str | None) -> str:
    """The goal; `-` reads it from stdin."""
    if goal == "-":
        if sys.stdin.isatty():
            output.say("Type the goal, then Ctrl-D:")
        return stdin_text("the goal").rstrip("\r\n")
    return goal or ""


def stdin_text(what: str) -> str:
    """What stands on stdin, without the mark that some shells put in front of it."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")  # whatever the locale says
    except UnicodeDecodeError as error:
        raise InputError(f"{what} on stdin is no UTF-8 text", hint="send it as UTF-8") from error
