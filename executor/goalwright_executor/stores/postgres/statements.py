"""One commit in a pipeline: all statements in one round trip, then checks, then COMMIT in a second."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores.columns import CHANGING, SUMMARY, clean, summary_values
from goalwright_executor.stores.errors import LeaseLost
from goalwright_executor.stores.postgres import leases
from goalwright_executor.stores.postgres.schema import PARTITION

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_executor.stores.lease import Handover
    from goalwright_executor.stores.postgres.connections import Connection
    from goalwright_executor.stores.row import EncodedRows, RunSummary

_KINDS = {"seconds": "float8", "cost_usd": "float8", "tasks": "int", "done": "int", "tokens": "bigint"}
_TYPES = [_KINDS.get(name, "text") for name in SUMMARY.split(", ")]
_VALUES = f"unnest({', '.join(f'%s::{kind}[]' for kind in _TYPES)}) AS n ({SUMMARY})"
_NEW = (
    f"INSERT INTO runs ({SUMMARY}) SELECT {SUMMARY} FROM {_VALUES} ON CONFLICT (run_id) DO UPDATE SET "  # noqa: S608
    f"{', '.join(f'{name} = excluded.{name}' for name in CHANGING)}, indexed = NULL RETURNING run_id, id"
)
# Known runs are updated: an insert that ends as an update would use up a key.
_KNOWN = (
    f"UPDATE runs r SET {', '.join(f'{name} = n.{name}' for name in CHANGING)}, indexed = NULL "  # noqa: S608
    f"FROM {_VALUES} WHERE r.run_id = n.run_id"
)
_FENCE = "SELECT run_id FROM runs WHERE run_id = ANY(%s) AND holder = %s ORDER BY run_id FOR SHARE"
_TAKE = (
    "UPDATE runs SET holder = %(me)s, stop_request = NULL "
    "WHERE run_id = ANY(%(runs)s) AND (holder IS NULL OR holder = %(me)s) RETURNING run_id"
)
_RELEASE = "UPDATE runs SET holder = NULL, stop_request = NULL WHERE run_id = ANY(%s) AND holder = %s"
_EVENTS = """
    INSERT INTO events (run, seq, at, type, task, key, body)
    SELECT r.id, n.seq, n.at, n.type, n.task, n.key, n.body
    FROM unnest(%s::text[], %s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
        AS n (run_id, seq, at, type, task, key, body)
    JOIN runs r USING (run_id)
"""
_TEXTS = f"""
    INSERT INTO texts (sha, text, era)
    SELECT n.sha, n.text, (SELECT max(id) / {PARTITION} FROM runs WHERE run_id = ANY(%s))
    FROM unnest(%s::bytea[], %s::bytea[]) AS n (sha, text)
    ON CONFLICT (sha) DO UPDATE SET era = excluded.era WHERE texts.era < excluded.era
"""  # noqa: S608
_MOST_TEXTS = 20_000


@dataclass(slots=True)
class WriteCache:
    """The keys of runs and the eras of texts that this process knows to be stored."""

    keys: dict[str, int] = field(default_factory=dict)
    texts: OrderedDict[str, int] = field(default_factory=OrderedDict)
    era: int = 0

    def has(self, sha: str) -> bool:
        """Whether a text is stored for runs of the newest era."""
        return self.texts.get(sha, -1) >= self.era

    def note(self, keys: Mapping[str, int], runs: Collection[str] = (), shas: Collection[str] = ()) -> None:
        """Remember the keys of new runs, and the texts that a commit stored for some runs."""
        self.keys.update(keys)
        self.era = max(self.era, era_of(keys.values()))
        if all(run in self.keys for run in runs):
            era = era_of([self.keys[run] for run in runs])
            for sha in shas:
                self.texts[sha] = max(era, self.texts.get(sha, 0))
                self.texts.move_to_end(sha)
        while len(self.texts) > _MOST_TEXTS:
            self.texts.popitem(last=False)


def era_of(keys: Collection[int]) -> int:
    """The era of the newest of some runs."""
    return max(keys, default=0) // PARTITION


@dataclass(frozen=True, slots=True)
class Append:
    """The content of one commit: rows, summaries and lease changes."""

    rows: EncodedRows
    summaries: Mapping[str, RunSummary]
    handover: Handover | None

    def send(self, connection: Connection, known: WriteCache, *, again: bool) -> dict[str, int]:
        """Write it; returns the keys of new runs. `again` skips rows that are already stored."""
        with connection.pipeline() as pipeline:
            connection.execute("BEGIN")
            fence, taken, new = self._fence(connection), None, None
            unknown = [summary for run_id, summary in sorted(self.summaries.items()) if run_id not in known.keys]
            others = [summary for run_id, summary in sorted(self.summaries.items()) if run_id in known.keys]
            if unknown:
                new = connection.execute(_NEW, _columns(unknown))
            if others:
                connection.execute(_KNOWN, _columns(others))
            if self.handover and self.handover.taken:
                me = self.handover.holder.to_json()
                connection.execute(leases.BEAT, (me,))
                taken = connection.execute(_TAKE, {"me": me, "runs": list(self.handover.taken)})
            large = self.texts()
            self._write_texts(connection, {sha: text for sha, text in large.items() if not known.has(sha)})
            events = write_events(connection, self.rows, again=again) if self.rows else None
            if self.handover and self.handover.released:
                me = self.handover.holder.to_json()
                connection.execute(_RELEASE, (list(self.handover.released), me))
            pipeline.sync()  # the first round trip
            self._check(fence, taken)
            if events is not None and events.rowcount != len(self.rows) and not again:
                self._refuse_deleted(connection)
            keys = dict(new.fetchall()) if new is not None else {}
            if era_of(keys.values()) > known.era:  # the skipped texts are stored for an earlier era
                self._write_texts(connection, {sha: text for sha, text in large.items() if known.has(sha)})
            connection.execute("COMMIT")
            pipeline.sync()  # the second
        return keys

    def write(self, connection: Connection) -> None:
        """Write rows and summaries in the caller's transaction."""
        if self.summaries:
            connection.execute(_NEW, _columns([summary for _, summary in sorted(self.summaries.items())]))
        if self.rows:
            self._write_texts(connection, self.texts())
            write_events(connection, self.rows, again=False)

    def is_there(self, connection: Connection) -> bool:
        """Whether an interrupted attempt was committed; commits are atomic, so one row shows it."""
        if not self.rows:
            return False
        query = "SELECT 1 FROM events e JOIN runs r ON r.id = e.run WHERE r.run_id = %s AND e.seq = %s AND e.at = %s"
        last = (self.rows.run_ids[-1], self.rows.seqs[-1], self.rows.times[-1])
        return connection.execute(query, last).fetchone() is not None

    def runs_written_elsewhere(self, connection: Connection) -> set[str]:
        """The runs in which another process has written events with the numbers of these rows."""
        query = (
            "SELECT DISTINCT r.run_id FROM unnest(%s::text[], %s::int[]) AS n (run_id, seq) "
            "JOIN runs r USING (run_id) JOIN events e ON e.run = r.id AND e.seq = n.seq"
        )
        return {run_id for (run_id,) in connection.execute(query, (self.rows.run_ids, self.rows.seqs))}

    def texts(self) -> dict[str, str]:
        """The large texts of all rows, by hash."""
        return {sha: text for large in self.rows.texts.values() for sha, text in large.items()}

    def _fence(self, connection: Connection) -> Any:
        """Lock the runs that this process must still hold."""
        if self.handover is None or not self.handover.held:
            return None
        return connection.execute(_FENCE, (list(self.handover.held), self.handover.holder.to_json()))

    def _check(self, fence: Any, taken: Any) -> None:
        assert self.handover is not None or (fence is None and taken is None)  # noqa: S101
        if fence is not None and self.handover is not None:
            mine = {run_id for (run_id,) in fence.fetchall()}
            if lost := sorted(set(self.handover.held) - mine):
                raise LeaseLost(f"another process has taken over run {', '.join(lost)}", lost)
        if taken is not None and self.handover is not None:
            mine = {run_id for (run_id,) in taken.fetchall()}
            if lost := sorted(set(self.handover.taken) - mine):
                raise LeaseLost(f"run {', '.join(lost)} is in use by another process", lost, "leave it to that process")

    def _refuse_deleted(self, connection: Connection) -> None:
        runs = set(self.rows.run_ids)
        stored = connection.execute("SELECT run_id FROM runs WHERE run_id = ANY(%s)", (sorted(runs),)).fetchall()
        lost = sorted(runs - {run_id for (run_id,) in stored})
        raise LeaseLost(f"run {', '.join(lost)} was deleted while it was written", lost, "run its goal again")

    def _write_texts(self, connection: Connection, large: Mapping[str, str]) -> None:
        if large:
            ordered = sorted(large)  # a common lock order prevents deadlocks
            runs = sorted(set(self.rows.run_ids))
            values = [large[sha].encode("utf-8", "surrogatepass") for sha in ordered]
            connection.execute(_TEXTS, (runs, [bytes.fromhex(sha) for sha in ordered], values))


def write_events(connection: Connection, rows: EncodedRows, *, again: bool) -> Any:
    """Write events in one statement."""
    tasks, keys = list(map(_text, rows.tasks)), list(map(_text, rows.keys))
    columns = (rows.run_ids, rows.seqs, rows.times, rows.types, tasks, keys, rows.bodies)
    return connection.execute(_EVENTS + (" ON CONFLICT DO NOTHING" if again else ""), columns)


def _columns(summaries: Sequence[RunSummary]) -> list[list[Any]]:
    rows = [[_text(value) for value in summary_values(summary)] for summary in summaries]
    return [list(column) for column in zip(*rows, strict=True)]


def _text(value: Any) -> Any:
    """Replace NUL, which PostgreSQL's text does not accept."""
    return clean(value.replace("\0", "\N{REPLACEMENT CHARACTER}")) if isinstance(value, str) else value
