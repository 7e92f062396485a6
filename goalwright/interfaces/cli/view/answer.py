"""Prints the result of a run: the answer, then a summary line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from goalwright.interfaces.cli import request_text
from goalwright.interfaces.cli.view import output, width
from goalwright.traces.wording import spent
from goalwright_skills.text.formatting import counted, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright_executor.history.result import Result

_MOST_FILES = 20


def show(result: Result, target: ResultTarget | None, resume: Sequence[str], workspace: Path, *, quiet: bool) -> None:
    """Print the answer (as Markdown on a terminal), the error or the open requests, and a summary."""
    max_width = width.of(sys.stderr)
    if result.answer is not None and target is None:
        _print_markdown(result.answer)
    if result.error is not None and result.error != result.status:
        answer_visible = target is None and sys.stdout.isatty() and sys.stderr.isatty()
        error = _short_error(result) if answer_visible else result.error
        output.say(width.wrap(f"{result.status}: {error}", max_width))
    show_waiting(result, resume)
    if target is not None and result.answer is not None and not quiet:
        output.say(f"Answer written to {target}")
    if result.artifacts and not quiet:
        _show_artifacts(result, workspace)
    if not quiet:
        output.say(summary_line(result, max_width))


def _show_artifacts(result: Result, workspace: Path) -> None:
    """List the files that the run created."""
    from goalwright_executor.results.artifacts import Artifacts

    output.say(f"Files in {Artifacts.of(workspace, result.run_id).folder}:")
    for artifact in result.artifacts[:_MOST_FILES]:
        output.say(f"  {artifact.path}  {counted(artifact.bytes, 'byte')}")
    if (remaining := len(result.artifacts) - _MOST_FILES) > 0:
        output.say(f"  and {remaining} more (--json lists all)")


def show_waiting(result: Result, resume: Sequence[str]) -> None:
    """Print the requests that a person must answer, and the commands that answer them."""
    for request in result.waiting:
        if request.kind == "login":
            output.say(f"Waiting for a login: {request.preview}")
        elif request.kind == "question":
            number = f" {request_text.short_id(request)}" if len(result.waiting) > 1 else ""
            output.say("\n".join((f"Question{number}: {request.preview}", *request_text.form_lines(request))))
        else:
            output.say(
                "\n".join(("Waiting for your approval:", *(f"  {line}" for line in request_text.lines(request))))
            )
    for index, command in enumerate(request_text.commands(resume, result.waiting)):
        output.say(f"{'And' if index else 'Answer'} with: {command}")
    if any(request.schema is not None for request in result.waiting):
        output.say("(or --deny ID, to decline it)")
    if any(request.kind in ("tool", "task") for request in result.waiting):
        output.say("(or --deny ID=NOTE, --edit ID=FILE, --approve-all; see goalwright resume --help)")


def _short_error(result: Result) -> str | None:
    """Return the error, shortened if the answer above it already lists the tasks without a result."""
    from goalwright.runs.steps.answering import NO_RESULT

    if result.answer is None or result.code != NO_RESULT:
        return result.error
    missing = sum(task.status != "done" for task in result.tasks)
    verb = plural(missing, "has", "have")
    return f"{missing} of {counted(len(result.tasks), 'task')} {verb} no result (see above)"


def summary_line(result: Result, max_width: int | None = None) -> str:
    """Return tasks, calls, tokens, cost, time and run id, in one line if it fits."""
    done = sum(task.status == "done" for task in result.tasks)
    parts = [
        result.status,
        *([f"{done}/{counted(len(result.tasks), 'task')}"] if result.tasks else []),
        *spent(result.usage, result.cost_usd),
        f"{result.seconds:.1f} s",
        f"run {result.run_id}",
    ]
    return width.join(parts, max_width)


def _print_markdown(text: str) -> None:
    if not sys.stdout.isatty():
        output.print_result(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=bool(os.environ.get("NO_COLOR"))).print(Markdown(output.escape_controls(text)))
