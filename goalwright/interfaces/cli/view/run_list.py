"""A list of runs, one line each if it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import width
from goalwright_skills.text.formatting import counted, dollars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_executor.stores.row import RunSummary

# The columns it takes to recognise a goal.
_MIN_GOAL_WIDTH = 24


def lines(runs: Sequence[RunSummary], max_width: int | None) -> Iterator[str]:
    """List runs with status, tasks, time, cost and goal; on a narrow terminal the goal has its own line."""
    rows = [(run.run_id, *_figures(run)) for run in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for run, (run_id, status, *figures) in zip(runs, rows, strict=True):
        aligned = " ".join(f"{text:>{size}}" for text, size in zip(figures, widths[2:], strict=True))
        line = f"{run_id:<{widths[0]}}  {status:<{widths[1]}} {aligned}"
        goal = " ".join(run.goal.split())
        if max_width is None or max_width - len(line) - 2 >= _MIN_GOAL_WIDTH:
            yield f"{line}  {width.cut(goal, max_width and max_width - len(line) - 2)}"
            continue
        if len(line) <= max_width:
            yield line
        else:
            yield from width.flow(f"{run_id}  {status}", filter(None, figures), max_width)
        yield f"    {width.cut(goal, max_width - 4)}"


def _figures(run: RunSummary) -> tuple[str, str, str, str]:
    cost = "?" if run.cost_usd is None else dollars(run.cost_usd)
    seconds = "" if run.seconds is None else f"{run.seconds:.1f} s"
    return run.status, counted(run.tasks, "task"), seconds, cost
