"""The search index in PostgreSQL: the words of each run as a `tsvector`, without PostgreSQL's text parser."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores import words
from goalwright_executor.stores.columns import SUMMARY, clean
from goalwright_executor.stores.postgres.leases import AGE, JOINED
from goalwright_executor.stores.run_lists import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_executor.stores.postgres.connections import Connection
    from goalwright_executor.stores.row import RunIndex

# PostgreSQL's limits on positions per word, and on the largest position.
_MAX_POSITIONS = 255
_LAST_POSITION = 16_383
_LAST = "(SELECT max(seq) FROM events e WHERE e.run = r.id)"
_MARK = (
    "UPDATE runs r SET indexed = 1, skills_used = %s "  # noqa: S608 - no input
    f"WHERE run_id = %s AND {_LAST} = %s RETURNING id"
)
_WORDS = (
    "INSERT INTO run_words (run, words) VALUES (%s, %s::tsvector) "
    "ON CONFLICT (run) DO UPDATE SET words = excluded.words"
)


def unindexed(connection: Connection, most: int, run_ids: Collection[str]) -> list[tuple[Any, ...]]:
    """Unindexed and changed runs: summary columns, holder, age and the number of the last event."""
    chosen = " AND run_id = ANY(%(runs)s)" if run_ids else ""
    query = (
        f"SELECT {SUMMARY}, holder, {AGE}, {_LAST} FROM {JOINED} "  # noqa: S608 - no input
        f"WHERE r.indexed IS NULL{chosen} ORDER BY r.id DESC LIMIT %(most)s"
    )
    return connection.execute(query, {"runs": list(run_ids), "most": most}).fetchall()


def write(connection: Connection, runs: Sequence[RunIndex]) -> None:
    """Index runs, except those that changed since they were read."""
    for run in sorted(runs, key=lambda run: run.run_id):  # a common lock order prevents deadlocks
        values = (clean(" ".join(run.skills_used)), run.run_id, run.last)
        updated = connection.execute(_MARK, values).fetchone()
        if updated is not None:
            connection.execute(_WORDS, (updated[0], vector(run.words)))


def vector(text: str) -> str:
    """Return words as the text of a `tsvector`; words of letters and digits need no escaping."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(text.split(), 1):
        positions.setdefault(word, []).append(min(position, _LAST_POSITION))
    return " ".join(
        f"'{word}':{','.join(map(str, islice(numbers, _MAX_POSITIONS)))}" for word, numbers in positions.items()
    )


def condition(text: str) -> tuple[str, dict[str, Any]]:
    """The condition that a run contains all words of a text, and its values."""
    phrases = [[f"'{word}'" for word in phrase] for phrase in words.phrases(text)]
    clauses, values = list[str](), dict[str, Any]()
    if phrases:
        clauses.append("r.id IN (SELECT run FROM run_words WHERE words @@ %(words)s::tsquery)")
        values["words"] = " & ".join(f"({' <-> '.join(phrase)}:*)" for phrase in phrases)
    typed = text.replace("\0", " ").split()[: words.MAX_PHRASES]
    if len(typed) == 1:
        clauses.append("run_id ILIKE %(start)s")
        values["start"] = f"{literal(clean(typed[0]))}%"
    plain = " AND ".join(
        f"(goal || ' ' || skills || ' ' || tags || ' ' || note) ILIKE %(word{number})s" for number in range(len(typed))
    )
    clauses.append(f"indexed IS NULL AND {plain}" if phrases else plain or "TRUE")
    values |= {f"word{number}": f"%{literal(clean(word.strip(chr(34))))}%" for number, word in enumerate(typed)}
    return f"({' OR '.join(f'({clause})' for clause in clauses)})", values
