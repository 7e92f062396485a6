"""The end of a run, for people: the answer, then one line about how it went."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from skills.text.plural import counted, plural
from weft.cli.view import output, width

if TYPE_CHECKING:
    from pathlib import Path

    from executor.history.result import Result


def show(result: Result, target: Path | None, answering: str, *, quiet: bool) -> None:
    """Print the answer (Markdown on a terminal), then what is worth knowing; a question with the command for it."""
    room = width.of(sys.stderr)
    if result.answer is not None and target is None:
        _print_markdown(result.answer)
    if result.error is not None and result.error != result.status:
        said_above = target is None and sys.stdout.isatty() and sys.stderr.isatty()
        output.say(width.wrapped(f"{result.status}: {_lack(result) if said_above else result.error}", room))
    if result.question is not None:
        output.say(f"It needs to know: {result.question}\nAnswer with: {answering}")
    if target is not None and result.answer is not None and not quiet:
        output.say(f"The answer is in {target}")
    if not quiet:
        output.say(line(result, room))


def _lack(result: Result) -> str | None:
    """The error, but how many have no result where the answer, which stands right above, says which and why."""
    from weft.runs.pipeline import NO_RESULT

    if result.answer is None or result.code != NO_RESULT:
        return result.error
    lacking = sum(task.status != "done" for task in result.tasks)
    has = plural(lacking, "has", "have")
    return f"{lacking} of {counted(len(result.tasks), 'task')} {has} no result, as said above"


def line(result: Result, room: int | None = None) -> str:
    """Tasks, calls, tokens, cost, time and run id, in one line where there is room."""
    done = sum(task.status == "done" for task in result.tasks)
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    parts = [
        result.status,
        *([f"{done}/{counted(len(result.tasks), 'task')}"] if result.tasks else []),
        counted(result.usage.calls, "call"),
        counted(result.usage.tokens, "token"),
        cost,
        f"{result.seconds:.1f} s",
        f"run {result.run_id}",
    ]
    return width.joined(parts, room)


def _print_markdown(text: str) -> None:
    if not sys.stdout.isatty():
        output.print_text(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=bool(os.environ.get("NO_COLOR"))).print(Markdown(output.shown(text)))
