"""Runs in a list, a line each where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.text.plural import counted
from weft.cli.view import width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from executor.stores.row import RunSummary

# The columns that a goal needs to be told from others.
_GOAL = 24


def lines(runs: Sequence[RunSummary], room: int | None) -> Iterator[str]:
    """The runs with their state, tasks, time, cost and goal; on a narrow terminal the goal has a line of its own."""
    rows = [(run.run_id, *_figures(run)) for run in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for run, (run_id, status, *figures) in zip(runs, rows, strict=True):
        aligned = " ".join(f"{text:>{size}}" for text, size in zip(figures, widths[2:], strict=True))
        line = f"{run_id:<{widths[0]}}  {status:<{widths[1]}} {aligned}"
        goal = " ".join(run.goal.split())
        if room is None or room - len(line) - 2 >= _GOAL:
            yield f"{line}  {width.cut(goal, room and room - len(line) - 2)}"
            continue
        yield from [line] if len(line) <= room else width.flowed(f"{run_id}  {status}", filter(None, figures), room)
        yield f"    {width.cut(goal, room - 4)}"


def _figures(run: RunSummary) -> tuple[str, str, str, str]:
    cost = "?" if run.cost_usd is None else f"${run.cost_usd:.4f}"
    seconds = "" if run.seconds is None else f"{run.seconds:.1f} s"
    return run.status, counted(run.tasks, "task"), seconds, cost
