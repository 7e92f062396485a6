"""The `goalwright` command, and its error reports."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from goalwright.interfaces.cli.command_classes import LazyGroup
from goalwright.interfaces.cli.view import output
from goalwright.version import __version__
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COMMANDS = {
    "run": ("runs.run:run", "Plan and run a goal, then print the answer."),
    "plan": ("runs.plan:plan", "Make a plan for a goal without running it."),
    "chat": ("runs.chat:chat", "Have a conversation: each goal is a turn that sees the earlier ones."),
    "batch": ("batches.batch:batch", "Run every goal in a file."),
    "eval": ("groups:evaluation", "Check the answers of cases, and compare skills, models and settings."),
    "recipes": ("groups:recipes", "Save good plans as recipes, and list, show and check them."),
    "resume": ("runs.resume:resume", "Resume a run, or answer what it waits for."),
    "rerun": ("runs.rerun:rerun", "Run part of an earlier run again, as a new run."),
    "replan": ("runs.replan:replan", "Change a run's plan as you ask, then continue the run."),
    "approvals": ("runs.approvals:approvals", "List the approvals and answers that runs wait for."),
    "changes": ("runs.changes:changes", "Show what a run changed in the workspace, or undo it."),
    "replay": ("traces.replay:replay", "Replay recorded runs without calling a model."),
    "trace": ("groups:trace", "Find, show, tag, compare, export, import and delete recorded runs."),
    "skills": ("groups:skills", "List, show, select and manage skills."),
    "models": ("setup.models:models", "List, download and remove local models."),
    "keys": ("setup.keys:keys", "Store providers' API keys, so that they need not be in the environment."),
    "mcp": ("groups:mcp", "Use the tools of MCP servers, or serve goalwright as one."),
    "serve": ("setup.serve:serve", "Open this workspace in a browser."),
    "acp": ("setup.serve:acp", "Serve editors over the Agent Client Protocol."),
    "journal": ("journal:journal", "Show the size of the journal, or upgrade its tables."),
    "init": ("setup.init:init", "Create a commented goalwright.toml."),
    "doctor": ("setup.doctor:doctor", "Check models, keys, settings, skills and the sandbox."),
    "completion": ("setup.init:completion", "Install shell completion."),
}


class _StdoutClosed(Exception):
    """The reader of stdout has closed it; click would report a broken pipe as a failure."""


@contextmanager
def _detect_closed_stdout() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _StdoutClosed from error


class _Commands(LazyGroup):
    """The top-level commands."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _detect_closed_stdout():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _detect_closed_stdout():
            return super().invoke(ctx)


@click.group(
    cls=_Commands,
    subcommands=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="goalwright")
def cli() -> None:
    """Give goalwright a goal: it selects fitting skills, plans a task graph, runs the tasks in parallel and answers.

    Run `goalwright COMMAND --help` for the options of a command.

    \b
    Examples:
      goalwright run "Write API documentation for the to-do service"
      goalwright run --model local "Explain what a mutex is"    # no account needed
      goalwright run --file notes.md --model openai/gpt-6.1-sol "Turn my notes into a weekly report"
      goalwright plan "Compare three caches" -o plan.yaml       # edit the plan, then run it:
      goalwright run --plan plan.yaml
      goalwright skills select "Review this code"
      goalwright doctor

    \b
    Exit status:
      0    done
      1    the goal, or a part of it or of a batch, failed
      2    wrong usage or input
      3    replay found drift
      4    no model, key or configuration
      5    stopped by a budget or limit
      6    waiting for your approval or answer; the command that answers is printed
      130  interrupted; the command that resumes is printed
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    atexit.register(gc.freeze)  # collecting thousands of skills at exit would take time
    arguments = sys.argv[1:] if arguments is None else arguments
    output.prepare_streams()
    with output.only_documents() if output.prints_documents(arguments) else nullcontext():
        status = _status(arguments)
    sys.exit(status)


def _status(arguments: list[str]) -> int:
    """Run the command line; returns its exit status."""
    try:
        return cli.main(args=arguments, prog_name="goalwright", standalone_mode=False, obj=arguments) or 0
    except KeyboardInterrupt:
        output.say("interrupted")
        return 130
    except _StdoutClosed:
        output.discard_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - users get a message for every error, never a traceback
        return _report(error, arguments)


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Print an error and its hint; returns the exit status."""
    say_error = partial(
        output.say_error, as_json=output.wants_json(arguments), indent=None if output.prints_lines(arguments) else 2
    )
    match error:
        case click.exceptions.Abort():
            return say_error("interrupted", "", code="INTERRUPTED", status=130, as_json=False)
        case click.exceptions.NoArgsIsHelpError():
            output.say(error.format_message())  # the help text
            return 2
        case click.ClickException():
            hint = _usage_hint(error, arguments)
            return say_error(error.format_message(), hint, code="USAGE", status=2)
        case GoalwrightError():
            from goalwright.interfaces.cli import stdin  # here, because most commands succeed
            from goalwright.interfaces.cli.hints import hint_for

            return say_error(stdin.shown(error.message), hint_for(error), code=error.code, status=error.exit_status)
        case OSError(errno=errno.ENOSPC | errno.EDQUOT, filename=str() | bytes() as name):
            message, hint = f"{os.fsdecode(name)}: {error.strerror}", "free disk space, then run the command again"
            return say_error(message, hint, code="FAILED", status=1)
        case OSError(filename=str() | bytes() as name):
            message, hint = f"{os.fsdecode(name)}: {error.strerror}", "check the path and its permissions"
            return say_error(message, hint, code="INVALID_INPUT", status=2)
        case OSError(strerror=str() as message):
            hint = "reading or writing failed: is the disk full, or was a connection lost?"
            status = say_error(message, hint, code="FAILED", status=1)
            output.discard_stdout()
            return status
        case _:
            if "-v" in arguments or "--verbose" in arguments:
                import traceback

                output.say("".join(traceback.format_exception(error)))
            message = f"unexpected error: {type(error).__name__}: {error}"
            hint = "this is a bug in goalwright; please report it, with the output of the same command with -v"
            return say_error(message, hint, code="INTERNAL_ERROR", status=1)


def _usage_hint(error: click.ClickException, arguments: Sequence[str]) -> str:
    """Return a hint for wrong usage, such as a goal without quotes or without `run`."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if arguments and " " in arguments[0].strip():
        return 'to run a goal: goalwright run "…"'
    if context is None:
        return (
            f"see `goalwright {arguments[0]} --help`"
            if arguments and arguments[0] in _COMMANDS
            else "see `goalwright --help`"
        )
    if isinstance(error, click.NoSuchOption) and any(option.name == "changes" for option in context.command.params):
        from goalwright.settings.settings import setting_types

        name = error.option_name.lstrip("-").replace("-", "_").removeprefix("no_")
        if setting := next((key for key in setting_types() if key == name or key == f"{name}_hosts"), None):
            return f"{setting} is a setting: {context.command_path} -c {setting}=VALUE"
    takes_text = any(parameter.name in ("goal", "request") for parameter in context.command.params)
    if takes_text and "unexpected extra argument" in error.message:
        return f'put text of several words in quotes: {context.command_path} "…" (see `{context.command_path} --help`)'
    return f"see `{context.command_path} --help`"
