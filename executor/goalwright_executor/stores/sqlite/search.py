"""The index of a journal's SQLite file: the words of each run in a table of FTS5, where SQLite has that.

It can be made again from the events at any time: the table is made when it is first needed, and what is written to it
need not be on disk at once.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores import words
from goalwright_executor.stores.columns import SUMMARY, clean
from goalwright_executor.stores.run_filter import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_executor.stores.row import RunIndex

# Its words come without accents and in one case, so that the tokenizer has nothing to do but to split at spaces.
_TABLE = (
    "CREATE VIRTUAL TABLE run_words USING fts5 "
    "(words, columnsize = 0, tokenize = \"unicode61 remove_diacritics 0\", prefix = '1 2')"
)
_LAST = "(SELECT max(seq) FROM events e WHERE e.run = runs.id)"


def has_table(connection: sqlite3.Connection) -> bool:
    """Whether the table is there."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'run_words'").fetchone() is not None


def make_table(connection: sqlite3.Connection) -> bool:
    """Make the table if it is missing, in the caller's transaction, and have every run read; False without FTS5."""
    if not has_table(connection):
        try:
            connection.execute(_TABLE)
        except sqlite3.OperationalError as error:
            if "no such module" in str(error):
                return False
            raise
        connection.execute("UPDATE runs SET indexed = NULL")
    return True


def unindexed(connection: sqlite3.Connection, most: int, run_ids: Collection[str]) -> list[tuple[Any, ...]]:
    """Runs that the index has not as they are now: columns of a summary, holder, beat and the last event's number."""
    missing = "indexed IS NULL" if has_table(connection) else "1"  # without a table it has none of them
    chosen = f" AND run_id IN ({', '.join('?' * len(run_ids))})" if run_ids else ""
    query = f"SELECT {SUMMARY}, holder, beat, {_LAST} FROM runs WHERE {missing}{chosen} ORDER BY id DESC LIMIT ?"  # noqa: S608
    return connection.execute(query, [*run_ids, most]).fetchall()


def write(connection: sqlite3.Connection, runs: Sequence[RunIndex]) -> None:
    """Put runs into the index that were not written to since they were read."""
    has_words = make_table(connection)
    for run in runs:
        changed = connection.execute(
            f"UPDATE runs SET indexed = 1, skills_used = ?, model = coalesce(?, model), code = ?, "  # noqa: S608 - no input
            f"tokens = coalesce(?, tokens) WHERE run_id = ? AND {_LAST} = ? RETURNING id",
            [
                clean(value)
                for value in (" ".join(run.skills_used), run.model, run.code, run.tokens, run.run_id, run.last)
            ],
        ).fetchone()
        if changed is not None and has_words:
            connection.execute("INSERT OR REPLACE INTO run_words (rowid, words) VALUES (?, ?)", (changed[0], run.words))


def condition(connection: sqlite3.Connection, text: str) -> tuple[str, list[str]]:
    """The condition that a run has all words of a text, and its values."""
    phrases = list(words.phrases(text))
    clauses, given = list[str](), list[str]()
    indexed = bool(phrases) and has_table(connection)
    if indexed:
        clauses.append("id IN (SELECT rowid FROM run_words WHERE run_words MATCH ?)")
        given.append(" ".join(f'"{" ".join(phrase)}" *' for phrase in phrases))
    if len(text.split()) == 1:
        clauses.append("run_id LIKE ? ESCAPE '\\'")
        given.append(f"{literal(text.strip())}%")
    seen = text.split()[: words.MOST_PHRASES]
    plain = " AND ".join(["(goal || ' ' || skills || ' ' || tags || ' ' || note) LIKE ? ESCAPE '\\'"] * len(seen))
    clauses.append(f"indexed IS NULL AND {plain}" if indexed else plain or "1")
    given += [f"%{literal(word.strip(chr(34)))}%" for word in seen]
    return f"({' OR '.join(f'({clause})' for clause in clauses)})", given
