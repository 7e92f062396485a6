"""The index of a journal in PostgreSQL: the words of each run as a `tsvector`, made here and not by its parser."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores import words
from goalwright_executor.stores.columns import SUMMARY, clean
from goalwright_executor.stores.postgres.leases import AGE, JOINED
from goalwright_executor.stores.run_filter import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_executor.stores.postgres.connections import Connection
    from goalwright_executor.stores.row import RunIndex

# PostgreSQL keeps so many places of a word, and none beyond the last one.
_PLACES = 255
_LAST_PLACE = 16_383
_LAST = "(SELECT max(seq) FROM events e WHERE e.run = r.id)"
_MARK = (
    "UPDATE runs r SET indexed = 1, skills_used = %s, model = coalesce(%s, model), code = %s, "  # noqa: S608 - no input
    f"tokens = coalesce(%s, tokens) WHERE run_id = %s AND {_LAST} = %s RETURNING id"
)
_WORDS = (
    "INSERT INTO run_words (run, words) VALUES (%s, %s::tsvector) "
    "ON CONFLICT (run) DO UPDATE SET words = excluded.words"
)


def unindexed(connection: Connection, most: int, run_ids: Collection[str]) -> list[tuple[Any, ...]]:
    """Runs that the index has not as they are now: columns of a summary, holder, age and the last event's number."""
    chosen = " AND run_id = ANY(%(runs)s)" if run_ids else ""
    query = (
        f"SELECT {SUMMARY}, holder, {AGE}, {_LAST} FROM {JOINED} WHERE r.indexed IS NULL{chosen} "  # noqa: S608 - no input
        "ORDER BY r.id DESC LIMIT %(most)s"
    )
    return connection.execute(query, {"runs": list(run_ids), "most": most}).fetchall()


def write(connection: Connection, runs: Sequence[RunIndex]) -> None:
    """Put runs into the index that were not written to since they were read."""
    for run in sorted(runs, key=lambda run: run.run_id):  # all processes lock them in one order
        given = (" ".join(run.skills_used), run.model, run.code, run.tokens, run.run_id, run.last)
        changed = connection.execute(_MARK, [clean(value) for value in given]).fetchone()
        if changed is not None:
            connection.execute(_WORDS, (changed[0], vector(run.words)))


def vector(text: str) -> str:
    """Words as the text of a `tsvector`; they are letters and digits, so nothing has to be escaped."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(text.split(), 1):
        places.setdefault(word, []).append(min(place, _LAST_PLACE))
    return " ".join(f"'{word}':{','.join(map(str, islice(found, _PLACES)))}" for word, found in places.items())


def condition(text: str) -> tuple[str, dict[str, Any]]:
    """The condition that a run has all words of a text, and its values."""
    phrases = [[f"'{word}'" for word in phrase] for phrase in words.phrases(text)]
    clauses, given = list[str](), dict[str, Any]()
    if phrases:
        clauses.append("r.id IN (SELECT run FROM run_words WHERE words @@ %(words)s::tsquery)")
        given["words"] = " & ".join(f"({' <-> '.join(phrase)}:*)" for phrase in phrases)
    seen = text.replace("\0", " ").split()[: words.MOST_PHRASES]
    if len(seen) == 1:
        clauses.append("run_id ILIKE %(start)s")
        given["start"] = f"{literal(clean(seen[0]))}%"
    plain = " AND ".join(
        f"(goal || ' ' || skills || ' ' || tags || ' ' || note) ILIKE %(word{number})s" for number in range(len(seen))
    )
    clauses.append(f"indexed IS NULL AND {plain}" if phrases else plain or "TRUE")
    given |= {f"word{number}": f"%{literal(clean(word.strip(chr(34))))}%" for number, word in enumerate(seen)}
    return f"({' OR '.join(f'({clause})' for clause in clauses)})", given
