"""The `weft` command: its subcommands, and how every failure ends."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

import weft
from skills.errors import WeftError
from weft.cli import output

# Each command's home and its line in the help, so that `weft --help` imports none of them.
_COMMANDS = {
    "run": ("weft.cli.run:run", "Reach a goal: select skills, plan, run in parallel, answer."),
    "plan": ("weft.cli.plan:plan", "Make a plan and show it, without running it."),
    "batch": ("weft.cli.batch:batch", "Run every goal of a file."),
    "resume": ("weft.cli.resume:resume", "Go on with a run that was stopped, killed or failed."),
    "rerun": ("weft.cli.rerun:rerun", "Run a part of a run anew, as a new run."),
    "replay": ("weft.cli.replay:replay", "Play a recorded run again, without a model."),
    "trace": ("weft.cli.trace:trace", "Look at recorded runs, compare, export, import and prune them."),
    "skills": ("weft.cli.skills:skills", "List, show, select and manage skills."),
    "models": ("weft.cli.models:models", "Local models: list, pull, remove."),
    "init": ("weft.cli.init:init", "Write a commented weft.toml."),
    "doctor": ("weft.cli.doctor:doctor", "Show what is there, what is missing, and what to do about it."),
    "completion": ("weft.cli.completion:completion", "Install completion for your shell."),
}


class _Commands(click.Group):
    """Subcommands, each imported when it is used."""

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
@click.version_option(weft.__version__, prog_name="weft")
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
    as_json = output.asks_for_json(given)
    try:
        status = cli.main(args=given, prog_name="weft", standalone_mode=False)
    except click.exceptions.Abort:
        status = output.say_error("interrupted", "", code="INTERRUPTED", status=130, as_json=False)
    except click.ClickException as error:
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"`{error.ctx.command_path} --help` shows how it is used"
        status = output.say_error(error.format_message(), hint, code="USAGE", status=2, as_json=as_json)
    except WeftError as error:
        status = output.say_error(error.message, error.hint, code=error.code, status=error.exit_status, as_json=as_json)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read our output has gone
        status = 0
    except OSError as error:
        if error.filename is None:
            raise  # nothing that a person could look at
        what = f"{error.filename}: {error.strerror}"
        hint = "check that the path is right and that you may write there"
        status = output.say_error(what, hint, code="INVALID_INPUT", status=2, as_json=as_json)
    sys.exit(status or 0)
