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

from weft.cli.view import output
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from weft.settings.paths import Paths
    from weft.settings.settings import Resolved, Settings

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path)
_WORKSPACE = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(),
    help="Workspace folder (default: the current folder).",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Print only the result and errors.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show every warning and event.")
_STRICT = click.option(
    "--strict-skills",
    is_flag=True,
    default=None,
    help="Ignore skills whose name is invalid or differs from their folder.",
)
_TRUST = click.option("--trust", is_flag=True, help="Trust this workspace's tools and settings as they are now.")
_UNSAFE = click.option(
    "--unsafe-tools", is_flag=True, default=None, help="Run tools unconfined if no sandbox is available."
)
_WRITE = click.option(
    "--write",
    "workspace_writes",
    flag_value="ask",
    default=None,
    help="Let tasks change files of the workspace; each change is shown as a diff and needs your approval.",
)
_TOOLS = click.option("--tools", metavar="NAMES", help="Tools that are off by default: python, shell.")
_ALLOW_WEB = click.option(
    "--allow-web",
    "allow_web",
    multiple=True,
    metavar="HOST",
    callback=lambda _context, _option, hosts: tuple(host for given in hosts for host in given.split(",") if host),
    help="Let tasks read pages of this host, such as example.org or *.example.org (repeatable).",
)
APPROVE_ALL = click.option("--approve-all", is_flag=True, help="Allow every call and task that would ask first.")
_DETECTOR = click.option("--detector", metavar="NAME", help="Detector that selects skills (default: ranked).")


def common(command: Command) -> Command:
    """Add --workspace, --json, -q and -v."""
    for option in (_VERBOSE, _QUIET, _JSON, _WORKSPACE):
        command = option(command)
    return command


def skills(command: Command) -> Command:
    """Add the options for finding and selecting skills."""
    for option in (_STRICT, _DETECTOR):
        command = option(command)
    return command


def workspace(command: Command) -> Command:
    """Add --workspace."""
    return _WORKSPACE(command)


def trust(command: Command) -> Command:
    """Add --trust."""
    return _TRUST(command)


def approve_all(command: Command) -> Command:
    """Add --approve-all."""
    return APPROVE_ALL(command)


def tools(command: Command) -> Command:
    """Add the options that let a workspace's tools run."""
    for option in (_UNSAFE, _TRUST):
        command = option(command)
    return command


def powers(command: Command) -> Command:
    """Add the options that let tasks do more than read and write their own files."""
    for option in (_ALLOW_WEB, _TOOLS, _WRITE):
        command = option(command)
    return command


def journal(command: Command) -> Command:
    """Add --journal."""
    text = (
        "Journal of runs: a path, sqlite:///PATH or postgresql://… (default: .agents/journal.sqlite in the workspace)."
    )
    return click.option("--journal", metavar="URL|PATH", help=text)(command)


def _reject_stdin(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the files; stdin is not one, because tasks read files by name, long after stdin is closed."""
    if Path("-") in files:
        raise InputError(
            "--file -: tasks read files by name, and stdin has none", hint="write it to a file and pass that"
        )
    return files


def goal(command: Command) -> Command:
    """Add the options that go with a goal: --skill, --file and --answer."""
    for option in (
        click.option("--answer", "answers", multiple=True, metavar="TEXT", help="Answer a question the planner asked."),
        click.option(
            "--file",
            "files",
            multiple=True,
            type=_FILE,
            callback=_reject_stdin,
            help="Attach a file to the goal (repeatable). The answer says if it was not read, or not whole.",
        ),
        click.option(
            "--skill",
            "skill",
            multiple=True,
            metavar="NAME",
            help="Use this skill, whatever the detector selects (repeatable).",
        ),
    ):
        command = option(command)
    return command


def output_file(
    text: str = "Write the answer to this file.", *, required: bool = False
) -> Callable[[Command], Command]:
    """Add -o; `-` means stdout, which is the default unless a file is required."""

    def dash_is_stdout(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
        if value != Path("-"):
            return value
        if required:
            raise InputError("-o - is not a file, and the output must be kept", hint="name a file")
        return None

    return click.option("-o", "--output", "target", type=_FILE, required=required, help=text, callback=dash_is_stdout)


def or_stdin(context: click.Context, _: click.Parameter, value: Any) -> Any:
    """Callback for arguments that name files: `-` becomes a copy of stdin, deleted when the command ends."""
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


def stream_plan(command: Command) -> Command:
    """Add --stream-plan and --no-stream-plan."""
    text = "Start tasks while the plan is still being written (default), or only once it is whole."
    return click.option("--stream-plan/--no-stream-plan", default=None, help=text)(command)


def concurrency(command: Command) -> Command:
    """Add --max-concurrency."""
    text = "Run at most N tasks at a time (default: 16)."
    return click.option("--max-concurrency", type=int, metavar="N", help=text)(command)


def cache(command: Command) -> Command:
    """Add --cache."""
    text = "Reuse results that other runs got for the same prompt in the last DAYS."
    return click.option("--cache", type=float, metavar="DAYS", help=text)(command)


def replans(command: Command) -> Command:
    """Add --max-replans."""
    text = "Let a model change the plan at most N times if it cannot be carried out (default: 1; 0: never)."
    return click.option("--max-replans", type=click.IntRange(0), metavar="N", help=text)(command)


def yes(command: Command) -> Command:
    """Add --yes."""
    return click.option("--yes", is_flag=True, help="Download a missing local model without asking.")(command)


def models(command: Command) -> Command:
    """Add the options for models and for what a run may spend."""
    for option in (
        click.option("--timeout", type=float, metavar="SECONDS", help="Stop the run after this time."),
        click.option("--max-tokens", type=int, metavar="N", help="Stop the run before it uses more than N tokens."),
        click.option("--max-cost", type=float, metavar="USD", help="Stop the run before it costs more than this."),
    ):
        command = option(command)
    return named_models(command)


def named_models(command: Command) -> Command:
    """Add --model and --fallback."""
    for option in (
        click.option(
            "--fallback", multiple=True, metavar="NAME", help="Model to use if the one before it fails (repeatable)."
        ),
        click.option("--model", metavar="NAME", help="litellm model name, or 'local' for the embedded model."),
    ):
        command = option(command)
    return command


def paths(workspace: Path) -> Paths:
    """Return the paths that belong to a workspace."""
    from weft.settings.paths import Paths

    return Paths.of(workspace, os.environ)


def settings(where: Paths, flags: dict[str, Any], *, quiet: bool = False) -> Resolved:
    """Resolve the settings in force; prints a warning for each value that is ignored."""
    from weft.settings.settings import InvalidSettings, resolve
    from weft.settings.untrusted import is_trusted

    set_flags = {key: value for key, value in flags.items() if value not in (None, ())}
    try:
        resolved = resolve(set_flags, os.environ, where.workspace, where.user_config, trusted=is_trusted(where))
    except InvalidSettings as error:
        message = "; ".join(re.sub(r"^'(\w+)'", _as_option, text) for text in error.faults)
        raise InputError(message, hint="`--help` shows the values of each option") from error
    for warning in resolved.warnings:
        if not quiet:
            output.say_warning(warning)
    return resolved


def _as_option(name: re.Match[str]) -> str:
    return "--" + name.group(1).replace("_", "-")


def announce_journal(where: Paths, resolved: Resolved, *, quiet: bool) -> None:
    """Say if the journal that was named is new: a typo in its name would otherwise go unnoticed."""
    from weft.runs.stored import records

    if resolved.settings.journal and not quiet:
        url = records.url(where, resolved.settings)
        if url.startswith("sqlite:///") and not Path(unquote(url.removeprefix("sqlite:///"))).exists():
            output.say(f"Creating a new journal: {url}")


def journal_settings(workspace: Path, journal: str | None) -> tuple[Paths, Settings]:
    """Return the paths and settings for a command that only uses the journal."""
    where = paths(workspace)
    return where, settings(where, {"journal": journal}, quiet=True).settings


def goal_text(goal: str | None) -> str:
    """Return the goal; `-` reads it from stdin."""
    if goal == "-":
        if sys.stdin.isatty():
            output.say("Type the goal, then press Ctrl-D:")
        return stdin_text("the goal").rstrip("\r\n")
    return goal or ""


def stdin_text(what: str) -> str:
    """Read stdin as text, without the byte order mark that some shells add."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")  # in every locale
    except UnicodeDecodeError as error:
        raise InputError(f"{what} on stdin is not UTF-8 text", hint="send it as UTF-8") from error
