"""Lists of runs, as every store makes them: summaries from their columns, and counts by batch."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypedDict

from weft_executor.stores.errors import UnknownRun
from weft_executor.stores.row import BatchCount, ConversationSummary, RunSummary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

DEAD = "interrupted"  # what a run is whose process died before it could say so
LIST_RUNS = "list runs with `weft trace list`"


class RunFilter(TypedDict, total=False):
    """Which runs a list has: those older than `before`, of some statuses, of one batch or conversation.

    `text` is looked for.
    """

    before: str
    status: Collection[str]
    text: str
    batch: str | None
    conversation: str | None


def read_summary(columns: Sequence[object], *, leased: bool) -> RunSummary:
    """The summary in the columns of `SUMMARY`; a run whose process died is interrupted."""
    summary = RunSummary(*columns)  # type: ignore[arg-type]  # the columns are in the fields' order
    summary = replace(summary, skills=tuple(str(summary.skills).split()))
    return replace(summary, status=DEAD) if summary.status == "running" and not leased else summary


def only_match(run: str, rows: Sequence[tuple[Any, ...]], journal: object) -> tuple[Any, ...]:
    """The row of the run of that id, or the only row; names the candidates if there are several."""
    if not run:  # every id starts with the empty string
        raise UnknownRun("no run was named", hint=LIST_RUNS)
    matches = [row for row in rows if row[0] == run] or rows
    if not matches:
        raise UnknownRun(f"there is no run {run!r} in {journal}", hint=LIST_RUNS)
    if len(matches) > 1:
        names = ", ".join(row[0] for row in matches)
        raise UnknownRun(f"{run!r} matches several runs: {names}", hint="give more characters of the id")
    return matches[0]


def stored_statuses(asked: Iterable[str]) -> list[str]:
    """The statuses as they are stored: a run that counts as interrupted may be stored as running."""
    return sorted({*asked, *(("running",) if DEAD in asked else ())})


def by_batch(ended: Iterable[BatchCount], running: Iterable[RunSummary]) -> list[BatchCount]:
    """The runs of each batch, counted by status; the newest batch first."""
    rows = [*ended, *(_count(run) for run in running)]
    rows.sort(key=lambda count: (count.batch, count.status))
    merged = [_merged(list(same)) for _, same in groupby(rows, key=lambda count: (count.batch, count.status))]
    newest = {
        batch: max(count.last for count in same) for batch, same in groupby(merged, key=lambda count: count.batch)
    }
    return sorted(merged, key=lambda count: newest[count.batch], reverse=True)


def as_conversation(counted: Sequence[Any], first: RunSummary, last: RunSummary) -> ConversationSummary:
    """A conversation by what was counted of it (id, turns, cost) and its first and last run."""
    name, turns, cost = counted
    return ConversationSummary(name, first.goal, turns, first.run_id, last.run_id, last.status, cost)


def literal(text: str) -> str:
    """A text in which LIKE sees no wildcards."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _count(run: RunSummary) -> BatchCount:
    return BatchCount(run.batch or "", run.status, 1, run.cost_usd, run.seconds or 0.0, run.run_id, run.run_id)


def _merged(same: list[BatchCount]) -> BatchCount:
    costs = [count.cost_usd for count in same]
    return BatchCount(
        batch=same[0].batch,
        status=same[0].status,
        runs=sum(count.runs for count in same),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        seconds=sum(count.seconds for count in same),
        first=min(count.first for count in same),
        last=max(count.last for count in same),
    )
