"""Reading stdin: a goal, JSON, or a file named `-`."""

from __future__ import annotations

import re
import sys
from typing import Any

import click

from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

# The prefix of the names of copies of stdin.
_COPY = "goalwright-stdin-"
# The key of click's context that holds the content that stdin was read for.
_READ = "goalwright.stdin"


def goal_text(goal: str | None) -> str:
    """Return the goal; `-` reads it from stdin."""
    if goal == "-":
        if sys.stdin.isatty():
            output.say("Type the goal, then press Ctrl-D:")
        return stdin_text("the goal").rstrip("\r\n")
    return goal or ""


def stdin_text(content: str) -> str:
    """Read stdin as text without a byte order mark; raises if the command has read it before."""
    _read_once(content)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")  # independent of the locale
    except UnicodeDecodeError as error:
        raise InputError(f"{content} on stdin is not UTF-8 text", hint="send it as UTF-8") from error


def or_stdin(context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Click callback for file names: `-` becomes a copy of stdin, which is deleted when the command ends."""
    if isinstance(value, tuple):
        return tuple(or_stdin(context, option, name) for name in value)
    if str(value) != "-":
        return value
    import shutil  # here, because most commands do not need it
    import tempfile

    spool = tempfile.NamedTemporaryFile(prefix=_COPY, suffix=".jsonl")  # noqa: SIM115 - closed with the command
    context.call_on_close(spool.close)
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    return type(value)(spool.name)


def _read_once(content: str) -> None:
    """Raise if this command has read stdin before."""
    read = click.get_current_context().meta
    if _READ in read:
        raise InputError(
            f"stdin cannot be both {read[_READ]} and {content}", hint="write one of them to a file, and name that"
        )
    read[_READ] = content


def shown(message: str) -> str:
    """Return a message with the names of copies of stdin replaced by `stdin`."""
    return re.sub(rf"\S*{_COPY}\w+\.jsonl", "stdin", message)
