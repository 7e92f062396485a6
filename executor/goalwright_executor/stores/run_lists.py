"""Lists of runs for all stores: filters, summaries from columns, and counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping  # noqa: TC003 - types of fields
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from goalwright_executor.stores.columns import SEPARATORS, TAKEN_BACK
from goalwright_executor.stores.errors import UnknownRun
from goalwright_executor.stores.row import BatchCount, ConversationSummary, RunCount, RunSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DEAD = "interrupted"  # the status of a run whose process died
CountedBy = Literal["day", "cause", "model", "skills", "tags"]
# The columns of each kind of count. Running runs are counted separately in the kinds that count by status.
COUNTED: Mapping[CountedBy, str] = {
    "day": "substr(started, 1, 10), status",
    "cause": "status, code",
    "model": "model",
    "skills": "skills, skills_used",
    "tags": "tags",
}
_BY_STATUS = ("day", "cause")
# The durations of finished runs.
TIMES = "SELECT substr(started, 1, 10), seconds FROM runs WHERE status = 'done' AND seconds IS NOT NULL AND {since}"
# Conversations, newest turn first: id, turns, cost, and the ids of the first and last run. Removed turns count only for
# the cost. `which` is a condition.
CONVERSATIONS = f"""
    SELECT conversation, count(*) FILTER (WHERE current), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END,
        coalesce(min(run_id) FILTER (WHERE current), min(run_id)),
        coalesce(max(run_id) FILTER (WHERE current), max(run_id))
    FROM (SELECT run_id, conversation, cost_usd, id NOT IN ({TAKEN_BACK}) AS current FROM runs WHERE {{which}}) AS turns
    GROUP BY conversation ORDER BY max(run_id) DESC
"""  # noqa: S608 - no input
LIST_RUNS = "list runs with `goalwright trace list`"


class RunFilter(TypedDict, total=False):
    """The conditions for a list of runs.

    `before` is a run id, `text` are words to search for. `taken_back` and `in_batch` select removed turns and goals of
    batches, or all others if False. A run matches if it started at `since` or later, and before `until`.
    """

    before: str
    status: Collection[str]
    text: str
    batch: str | None
    in_batch: bool
    conversation: str | None
    taken_back: bool
    skill: str
    model: str
    tag: str
    code: str
    since: str
    until: str
    min_cost: float
    max_cost: float
    min_seconds: float
    max_seconds: float


class Condition(NamedTuple):
    """A condition of SQL, with `?` for its value."""

    sql: str
    value: Callable[[Any], Any] = lambda value: value


# The conditions on columns. A model may be named with or without its provider.
_CONDITIONS: Mapping[str, Condition] = {
    "before": Condition("run_id < ?"),
    "batch": Condition("batch = ?"),
    "in_batch": Condition("(batch IS NOT NULL) = ?"),
    "conversation": Condition("conversation = ?"),
    "taken_back": Condition(f"(r.id IN ({TAKEN_BACK})) = ?"),
    "skill": Condition("' ' || skills || ' ' LIKE ? ESCAPE '\\'", lambda name: f"% {literal(name)} %"),
    "model": Condition("'/' || model LIKE ? ESCAPE '\\'", lambda name: f"%/{literal(name)}"),
    "code": Condition("code = ?"),
    "since": Condition("started >= ?"),
    "until": Condition("started < ?"),
    "min_cost": Condition("cost_usd >= ?"),
    "max_cost": Condition("cost_usd <= ?"),
    "min_seconds": Condition("seconds >= ?"),
    "max_seconds": Condition("seconds <= ?"),
}


def conditions(wanted: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Return the conditions that all stores have in common, and their values: all but status, text and tag."""
    used = {name: wanted[name] for name in _CONDITIONS if wanted.get(name) not in (None, "")}
    return [_CONDITIONS[name].sql for name in used], [_CONDITIONS[name].value(used[name]) for name in used]


def literal(text: str) -> str:
    """Escape the wildcards of LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def read_summary(columns: Sequence[object], *, leased: bool) -> RunSummary:
    """Return the summary in the columns of `SUMMARY`; a run whose process died is interrupted."""
    summary = RunSummary(*columns)  # type: ignore[arg-type]  # the columns are in the fields' order
    tags = parts("tags", str(summary.tags))
    summary = replace(summary, skills=parts("skills", str(summary.skills)), tags=tags)
    return replace(summary, status=DEAD) if summary.status == "running" and not leased else summary


def parts(column: str, text: str) -> tuple[str, ...]:
    """Split the value of a column with several parts."""
    return tuple(part for part in text.split(SEPARATORS[column]) if part)


def only_match(run: str, rows: Sequence[tuple[Any, ...]], journal: object) -> tuple[Any, ...]:
    """Return the row of the run with that id, or the only row; the error names several candidates."""
    if not run:  # the prefix of every id
        raise UnknownRun("no run was named", hint=LIST_RUNS)
    matches = [row for row in rows if row[0] == run] or rows
    if not matches:
        raise UnknownRun(f"there is no run {run!r} in {journal}", hint=LIST_RUNS)
    if len(matches) > 1:
        names = ", ".join(row[0] for row in matches)
        raise UnknownRun(f"{run!r} matches several runs: {names}", hint="give more characters of the id")
    return matches[0]


def stored_statuses(statuses: Iterable[str]) -> list[str]:
    """Return the stored statuses to search for: an interrupted run may be stored as running."""
    return sorted({*statuses, *(("running",) if DEAD in statuses else ())})


def by_batch(ended: Iterable[BatchCount], running: Iterable[RunSummary]) -> list[BatchCount]:
    """Merge the counts of ended and running runs by batch and status, newest batch first."""
    rows = [*ended, *(_count(run) for run in running)]
    rows.sort(key=lambda count: (count.batch, count.status))
    merged = [_merged(list(same)) for _, same in groupby(rows, key=lambda count: (count.batch, count.status))]
    newest = {
        batch: max(count.last for count in same) for batch, same in groupby(merged, key=lambda count: count.batch)
    }
    return sorted(merged, key=lambda count: newest[count.batch], reverse=True)


def as_conversation(counted: Sequence[Any], first: RunSummary, last: RunSummary) -> ConversationSummary:
    """Return a conversation from its counts (id, turns, cost) and its first and last run."""
    name, turns, cost = counted
    return ConversationSummary(name, first.goal, turns, first.run_id, last.run_id, last.status, cost, last.started)


def count_query(by: CountedBy, since: str) -> str:
    """Return the query that counts runs; `since` is a condition."""
    columns = COUNTED[by]
    ended = " AND status <> 'running'" if by in _BY_STATUS else ""
    places = ", ".join(str(number) for number, _ in enumerate(columns.replace("(started, 1, 10)", "").split(","), 1))
    return (
        f"SELECT {columns}, count(*), coalesce(sum(cost_usd), 0.0), count(cost_usd), "  # noqa: S608
        f"coalesce(sum(tokens), 0) FROM runs WHERE {since}{ended} GROUP BY {places}"
    )


def run_counts(by: CountedBy, rows: Iterable[Sequence[Any]], running: Iterable[RunSummary]) -> Iterator[RunCount]:
    """Return the counts in rows of `count_query`, and of running runs."""
    for *key, runs, cost, priced, tokens in rows:
        yield RunCount(tuple(key), runs, float(cost), priced, int(tokens))
    for run in running if by in _BY_STATUS else ():
        own: tuple[str | None, ...] = (run.started[:10], run.status) if by == "day" else (run.status, run.code)
        yield RunCount(own, 1, run.cost_usd or 0.0, int(run.cost_usd is not None), run.tokens)


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
