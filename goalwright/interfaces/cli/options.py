"""Options that several commands share.

A command gets the options that override settings as `flags: SettingFlags`, and --json, -q and -v as `mode: OutputMode`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli.configuration import SettingFlags
from goalwright.interfaces.cli.option_value import option_value, options_of, together
from goalwright.interfaces.cli.view import output
from goalwright.interfaces.cli.view.output import OutputMode
from goalwright.settings import find_workspace
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.interfaces.cli.option_value import Command, Decorator

_FILE = click.Path(path_type=Path)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
ABOVE_ZERO = click.FloatRange(0, min_open=True)


def _pairs(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise InputError(f"-c {text}: a setting is KEY=VALUE", hint="such as -c max_tasks=5")
    return tuple((key.strip(), value) for key, _, value in (text.partition("=") for text in texts))


_change = click.option(
    "-c",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_pairs,
    help="Change any setting for this command (repeatable).",
)


def setting(*options: Decorator[Any]) -> Decorator[Any]:
    """Group options that override settings of the same names, and add -c to the command."""

    def decorate(command: Command) -> Command:
        has_change = any(option.name == "changes" for option in options_of(command))
        decorated: Command = option_value("flags", SettingFlags, *options, *(() if has_change else (_change,)))(command)
        return decorated

    return decorate


any_setting = setting()


here = click.option(
    "--workspace", type=_FILE, metavar="DIR", default=Path(), help="Workspace folder (default: the current folder)."
)


def _find_workspace(*, quiet: bool) -> Path:
    """Return the workspace that the current folder belongs to, and print it if it is another folder."""
    here = Path.cwd()
    folder = find_workspace.find(here, Path.home())
    if folder == here.resolve():
        return Path()
    if not quiet:
        output.say(f"Using the workspace {folder} (to use the current folder: --workspace .)")
    return folder


def workspace(command: Command) -> Command:
    """Add --workspace; its default is the workspace that the current folder belongs to."""

    @wraps(command)
    def in_workspace(workspace: Path | None, **parameters: Any) -> Any:
        if workspace is None:
            workspace = _find_workspace(quiet=parameters.get("quiet", False))
        return command(workspace=workspace, **parameters)

    option = click.option(
        "--workspace",
        type=_FILE,
        metavar="DIR",
        help="Workspace folder (default: the nearest folder upwards that has goalwright.toml, .agents/ or skills/).",
    )
    return option(in_workspace)  # type: ignore[return-value]  # called by click alone, by names


printing = option_value(
    "mode",
    OutputMode,
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout."),
    click.option("-q", "--quiet", is_flag=True, help="Print only the result and errors."),
    click.option("-v", "--verbose", is_flag=True, help="Show every warning and event."),
)
common = together(workspace, printing)
trust = click.option("--trust", is_flag=True, help="Trust this workspace's tools and settings in their current form.")
approve_all = click.option("--approve-all", is_flag=True, help="Approve every call and task without asking.")
yes = click.option("--yes", is_flag=True, help="Download a missing local model without asking.")

_strict_skills = click.option(
    "--strict-skills",
    is_flag=True,
    default=None,
    hidden=True,
    help="Ignore skills whose name is invalid or differs from their folder.",
)
strict_skills = setting(_strict_skills)
skills = setting(
    click.option("--detector", metavar="NAME", help="Detector that selects skills (default: ranked)."), _strict_skills
)


def _hosts(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split hosts at commas."""
    return tuple(host for text in values for host in text.split(",") if host)


_write = click.option(
    "--write",
    "workspace_writes",
    flag_value="ask",
    default=None,
    help="Let tasks change files in the workspace; you approve each change.",
)
write = setting(_write)
powers = setting(
    _write,
    click.option(
        "--tools",
        metavar="NAMES",
        help="Add tools that are off by default: python, shell or both (python,shell).",
    ),
    click.option(
        "--allow-web",
        multiple=True,
        metavar="HOST",
        callback=_hosts,
        help="Let tasks read web pages of this host: example.org, *.example.org (repeatable).",
    ),
)
journal = setting(
    click.option(
        "--journal",
        metavar="URL|PATH",
        help="Journal of runs: a path, sqlite:///PATH or postgresql://… (default: .agents/journal.sqlite).",
    )
)


def _named(_: click.Context, __: click.Parameter, model: str | None) -> str | None:
    """Return the model; raises if the name is empty, as from an unset variable."""
    if model is not None and not model.strip():
        raise InputError("--model is empty", hint="name a model, such as openai/gpt-6.1-sol, or leave --model out")
    return model


def _model(text: str) -> Decorator[Any]:
    return click.option("--model", metavar="NAME", callback=_named, help=text)


named_models = setting(
    _model("Model: a litellm name such as openai/gpt-6.1-sol, or local."),
    click.option(
        "--fallback", multiple=True, metavar="NAME", help="Model to try if the one before fails (repeatable)."
    ),
)
unknown_cost = setting(
    click.option(
        "--allow-unknown-cost",
        is_flag=True,
        default=None,
        hidden=True,
        help="With --max-cost, call models of unknown price, at an assumed $15 per million tokens.",
    )
)
models = together(
    named_models,
    setting(
        click.option("--max-cost", type=float, metavar="USD", help="Stop the run before it costs more than this."),
        click.option("--max-tokens", type=int, metavar="N", help="Stop the run before it uses more than N tokens."),
        click.option("--timeout", type=float, metavar="SECONDS", help="Stop the run after this time."),
    ),
    unknown_cost,
)
selecting_model = setting(_model("With --detector llm: the model that selects skills."))
checked_model = setting(_model("Check this model instead of the configured one."))
stream_plan = setting(
    click.option(
        "--stream-plan/--no-stream-plan",
        default=None,
        hidden=True,
        help="Start tasks while the plan is still being written (default), or only once it is complete.",
    )
)
call_rates = together(
    click.option(
        "--max-calls",
        type=click.IntRange(1),
        default=32,
        show_default=True,
        metavar="N",
        help="Make at most N model calls at a time, in all.",
    ),
    click.option("--rpm", type=ABOVE_ZERO, metavar="N", help="Make at most N calls per minute, for each model."),
    click.option("--tpm", type=ABOVE_ZERO, metavar="N", help="Use at most N tokens per minute, for each model."),
)
cache = setting(
    click.option(
        "--cache",
        type=float,
        metavar="DAYS",
        help="Reuse results of other runs for the same prompt, if they are at most DAYS old.",
    )
)
replans = setting(
    click.option(
        "--max-replans",
        type=click.IntRange(0),
        metavar="N",
        hidden=True,
        help="Let a model change the plan at most N times if it cannot be carried out (default: 1; 0: never).",
    )
)


def _absolute(_: click.Context, __: click.Parameter, folder: Path | None) -> str | None:
    """Make a folder absolute: flags are relative to the current folder, settings to the workspace."""
    return str(folder.absolute()) if folder is not None else None


skill_choice = setting(
    click.option(
        "--without",
        "skills_without",
        multiple=True,
        metavar="SKILL",
        help="Do not use this skill or tool (repeatable).",
    ),
    click.option(
        "--skills-dir",
        hidden=True,
        type=_FOLDER,
        callback=_absolute,
        metavar="DIR",
        help="Folder of skills that count before the workspace's.",
    ),
    click.option(
        "--seed-dir",
        "seed",
        hidden=True,
        type=_FOLDER,
        callback=_absolute,
        metavar="DIR",
        help="Folder with your own prompt templates.",
    ),
)


def _reject_stdin(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the files; raises for stdin, because tasks read files by name and later."""
    if Path("-") in files:
        raise InputError(
            "--file -: tasks read files by name, and stdin has none", hint="write it to a file and pass that"
        )
    return tuple(path.absolute() for path in files)


@dataclass(frozen=True, slots=True)
class GoalFlags:
    """The flags --skill, --file and --answer."""

    skills: tuple[str, ...]
    files: tuple[Path, ...]
    answers: tuple[str, ...]


goal = option_value(
    "goal_flags",
    GoalFlags,
    click.option(
        "--skill",
        "skills",
        multiple=True,
        metavar="NAME",
        help="Use this skill, even if it is not selected (repeatable).",
    ),
    click.option(
        "--file",
        "files",
        multiple=True,
        type=_FILE,
        callback=_reject_stdin,
        help="Attach a file to the goal (repeatable).",
    ),
    click.option(
        "--answer", "answers", multiple=True, metavar="TEXT", help="Answer a question that the planner asked."
    ),
)


def output_file(text: str = "Write the answer to this file.", *, never_stdout: bool = False) -> Decorator[Any]:
    """Add -o; `-` is stdout, unless the command needs a file."""

    def dash_is_stdout(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
        if value != Path("-"):
            return value
        if never_stdout:
            raise InputError("-o - cannot be used here", hint="name a file for the results")
        return None

    return click.option("-o", "--output", "target", type=_FILE, help=text, callback=dash_is_stdout)
