"""The `weft` command: its subcommands, and how every failure ends."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from skills.errors import WeftError
from weft.cli.view import output
from weft.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Each command's home and its line in the help, so that `weft --help` imports none of them.
_COMMANDS = {
    "run": ("weft.cli.commands.runs.run:run", "Reach a goal: select skills, plan, run in parallel, answer."),
    "plan": ("weft.cli.commands.runs.plan:plan", "Make a plan and show it, without running it."),
    "batch": ("weft.cli.commands.batches.batch:batch", "Run every goal of a file."),
    "resume": ("weft.cli.commands.runs.resume:resume", "Go on with a run that was stopped, killed or failed."),
    "rerun": ("weft.cli.commands.runs.rerun:rerun", "Run a part of a run anew, as a new run."),
    "replay": ("weft.cli.commands.traces.replay:replay", "Play a recorded run again, without a model."),
    "trace": ("weft.cli.commands.traces.trace:trace", "Look at recorded runs, compare, export, import and prune them."),
    "skills": ("weft.cli.commands.skills.group:skills", "List, show, select and manage skills."),
    "models": ("weft.cli.commands.setup.models:models", "Local models: list, pull, remove."),
    "init": ("weft.cli.commands.setup.init:init", "Write a commented weft.toml."),
    "doctor": (
        "weft.cli.commands.setup.doctor:doctor",
        "Show what is there, what is missing, and what to do about it.",
    ),
    "completion": ("weft.cli.commands.setup.completion:completion", "Install completion for your shell."),
}


class _ReaderGone(Exception):
    """Whoever read stdout wants no more of it; click would take that for a failure."""


@contextmanager
def _while_read() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGone from error


class _Commands(click.Group):
    """Subcommands, each imported when it is used."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        with _while_read():
            return super().make_context(*given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _while_read():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="weft")
def cli() -> None:
    """Give it a goal: it finds the skills that fit, weaves a task graph, runs it in parallel and answers.

    \b
    Examples:
      weft run "Write API documentation for the to-do service"
      weft run --model local "Explain what a mutex is"        no account needed
      weft run --file notes.md --model openai/gpt-4o "Turn my notes into a weekly report"
      weft plan "Compare three caches" -o plan.yaml    then edit it, and
      weft run --plan plan.yaml
      weft skills select "Review this code"
      weft doctor
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    atexit.register(gc.freeze)  # at the end nobody needs to look for garbage among thousands of skills
    given = sys.argv[1:] if arguments is None else arguments
    output.ready_streams()
    try:
        status = cli.main(args=given, prog_name="weft", standalone_mode=False, obj=given)
    except KeyboardInterrupt:
        output.say("interrupted")
        status = 130
    except _ReaderGone:
        output.forget_stdout()
        status = 0
    except Exception as error:  # noqa: BLE001 - whatever went wrong, a person is told what and never shown a stack
        status = _explained(error, given)
    sys.exit(status or 0)


def _explained(error: Exception, given: Sequence[str]) -> int:
    """Say what went wrong and what to do next; gives the exit status."""
    as_json = output.asks_for_json(given)
    match error:
        case click.exceptions.Abort():
            return output.say_error("interrupted", "", code="INTERRUPTED", status=130, as_json=False)
        case click.exceptions.NoArgsIsHelpError():
            output.say(error.format_message())  # nothing went wrong, but nothing was done either
            return 2
        case click.ClickException():
            context = error.ctx if isinstance(error, click.UsageError) else None
            hint = f"`{context.command_path} --help` shows how it is used" if context else ""
            return output.say_error(error.format_message(), hint, code="USAGE", status=2, as_json=as_json)
        case WeftError():
            said, status = (error.message, error.hint), error.exit_status
            return output.say_error(*said, code=error.code, status=status, as_json=as_json)
        case OSError(filename=str() | bytes() as name):
            what, hint = (
                f"{os.fsdecode(name)}: {error.strerror}",
                "check that the path is right and that you may use it",
            )
            return output.say_error(what, hint, code="INVALID_INPUT", status=2, as_json=as_json)
        case OSError(strerror=str() as what):
            hint = "something could not be read or written; is a disk full, or a connection gone?"
            status = output.say_error(what, hint, code="FAILED", status=1, as_json=as_json)
            output.forget_stdout()
            return status
        case _:
            if "-v" in given or "--verbose" in given:
                import traceback

                output.say("".join(traceback.format_exception(error)))
            what = f"an unexpected error: {type(error).__name__}: {error}"
            hint = "this is a fault in weft: please report it, with what -v shows"
            return output.say_error(what, hint, code="INTERNAL_ERROR", status=1, as_json=as_json)
