"""What commands read from stdin: a goal, JSON, or a file named `-`."""

from __future__ import annotations

import re
import sys
from typing import Any

import click

from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

# How the name of a copy of stdin begins.
_COPY = "goalwright-stdin-"
# What stdin was read for, in the context of a command.
_READ = "goalwright.stdin"


def goal_text(goal: str | None) -> str:
    """Return the goal; `-` reads it from stdin."""
    if goal == "-":
        if sys.stdin.isatty():
            output.say("Type the goal, then press Ctrl-D:")
        return stdin_text("the goal").rstrip("\r\n")
    return goal or ""


def stdin_text(what: str) -> str:
    """Read stdin as text, without the byte order mark that some shells add; raises if the command has read it."""
    _read_once(what)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")  # in every locale
    except UnicodeDecodeError as error:
        raise InputError(f"{what} on stdin is not UTF-8 text", hint="send it as UTF-8") from error


def or_stdin(context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Callback for arguments that name files: `-` becomes a copy of stdin, deleted when the command ends."""
    if isinstance(value, tuple):
        return tuple(or_stdin(context, option, name) for name in value)
    if str(value) != "-":
        return value
    import shutil  # not above: many commands import this module
    import tempfile

    spool = tempfile.NamedTemporaryFile(prefix=_COPY, suffix=".jsonl")  # noqa: SIM115 - closed with the command
    context.call_on_close(spool.close)
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    return type(value)(spool.name)


def _read_once(what: str) -> None:
    """Raise if this command has read stdin already: there is nothing left of it."""
    read = click.get_current_context().meta
    if _READ in read:
        raise InputError(
            f"stdin cannot be both {read[_READ]} and {what}", hint="write one of them to a file, and name that"
        )
    read[_READ] = what


def shown(message: str) -> str:
    """A message in which a copy of stdin has the name that the user knows."""
    return re.sub(rf"\S*{_COPY}\w+\.jsonl", "stdin", message)
