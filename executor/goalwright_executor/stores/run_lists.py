"""Lists of runs, as every store makes them: summaries from their columns, and counts by batch."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from goalwright_executor.stores.columns import JOINED, TAKEN_BACK
from goalwright_executor.stores.errors import UnknownRun
from goalwright_executor.stores.row import BatchCount, ConversationSummary, RunCount, RunSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DEAD = "interrupted"  # what a run is whose process died before it could say so
CountedBy = Literal["day", "cause", "model", "skills", "tags"]
# What runs can be counted by, and its columns. A run that has no end yet is counted apart where its status counts.
COUNTED: Mapping[CountedBy, str] = {
    "day": "substr(started, 1, 10), status",
    "cause": "status, code",
    "model": "model",
    "skills": "skills, skills_used",
    "tags": "tags",
}
_BY_STATUS = ("day", "cause")
# How long runs took that are done.
TIMES = "SELECT substr(started, 1, 10), seconds FROM runs WHERE status = 'done' AND seconds IS NOT NULL AND {since}"
# Conversations with the newest turn first: id, turns, cost, and the ids of the first and last run. What was taken back
# is no turn, but it was paid for. `which` is a condition.
CONVERSATIONS = f"""
    SELECT conversation, count(*) FILTER (WHERE current), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END,
        coalesce(min(run_id) FILTER (WHERE current), min(run_id)),
        coalesce(max(run_id) FILTER (WHERE current), max(run_id))
    FROM (SELECT run_id, conversation, cost_usd, id NOT IN ({TAKEN_BACK}) AS current FROM runs WHERE {{which}}) AS turns
    GROUP BY conversation ORDER BY max(run_id) DESC
"""  # noqa: S608 - no input
LIST_RUNS = "list runs with `goalwright trace list`"


def read_summary(columns: Sequence[object], *, leased: bool) -> RunSummary:
    """The summary in the columns of `SUMMARY`; a run whose process died is interrupted."""
    summary = RunSummary(*columns)  # type: ignore[arg-type]  # the columns are in the fields' order
    tags = parts("tags", str(summary.tags))
    summary = replace(summary, skills=parts("skills", str(summary.skills)), tags=tags)
    return replace(summary, status=DEAD) if summary.status == "running" and not leased else summary


def parts(column: str, text: str) -> tuple[str, ...]:
    """The parts of a column that has several."""
    return tuple(part for part in text.split(JOINED[column]) if part)


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
    return ConversationSummary(name, first.goal, turns, first.run_id, last.run_id, last.status, cost, last.started)


def count_query(by: CountedBy, since: str) -> str:
    """The query that counts runs; `since` is a condition."""
    columns = COUNTED[by]
    ended = " AND status <> 'running'" if by in _BY_STATUS else ""
    places = ", ".join(str(number) for number, _ in enumerate(columns.replace("(started, 1, 10)", "").split(","), 1))
    return (
        f"SELECT {columns}, count(*), coalesce(sum(cost_usd), 0.0), count(cost_usd), coalesce(sum(tokens), 0) "  # noqa: S608
        f"FROM runs WHERE {since}{ended} GROUP BY {places}"
    )


def run_counts(by: CountedBy, rows: Iterable[Sequence[Any]], running: Iterable[RunSummary]) -> Iterator[RunCount]:
    """The counts in rows of such a query, and those of runs that have no end yet."""
    for *key, runs, cost, priced, tokens in rows:
        yield RunCount(tuple(key), runs, float(cost), priced, int(tokens))
    for run in running if by in _BY_STATUS else ():
        own: tuple[str | None, ...] = (run.started[:10], run.status) if by == "day" else (run.status, run.code)
        yield RunCount(own, 1, run.cost_usd or 0.0, int(run.cost_usd is not None), run.tokens or 0)


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
