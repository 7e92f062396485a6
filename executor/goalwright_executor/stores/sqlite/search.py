"""The search index in SQLite: the words of each run in an FTS5 table, if SQLite has FTS5.

The table is created when it is first needed. It can be rebuilt from the events, so its writes need no fsync.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores import words
from goalwright_executor.stores.columns import SUMMARY, clean
from goalwright_executor.stores.run_lists import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_executor.stores.row import RunIndex

# The words are normalized before, so the tokenizer only splits at spaces.
_TABLE = (
    "CREATE VIRTUAL TABLE run_words USING fts5 "
    "(words, columnsize = 0, tokenize = \"unicode61 remove_diacritics 0\", prefix = '1 2')"
)
_LAST = "(SELECT max(seq) FROM events e WHERE e.run = runs.id)"


def has_table(connection: sqlite3.Connection) -> bool:
    """Whether the table exists."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'run_words'").fetchone() is not None


def make_table(connection: sqlite3.Connection) -> bool:
    """Create the table if it is missing and mark all runs as unindexed; returns False without FTS5."""
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
    """Unindexed and changed runs: summary columns, holder, beat and the number of the last event."""
    missing = "indexed IS NULL" if has_table(connection) else "1"
    chosen = f" AND run_id IN ({', '.join('?' * len(run_ids))})" if run_ids else ""
    where = f"{missing}{chosen}"
    query = f"SELECT {SUMMARY}, holder, beat, {_LAST} FROM runs WHERE {where} ORDER BY id DESC LIMIT ?"  # noqa: S608
    return connection.execute(query, [*run_ids, most]).fetchall()


def write(connection: sqlite3.Connection, runs: Sequence[RunIndex]) -> None:
    """Index runs, except those that changed since they were read."""
    has_words = make_table(connection)
    for run in runs:
        updated = connection.execute(
            "UPDATE runs SET indexed = 1, skills_used = ? "  # noqa: S608 - no input
            f"WHERE run_id = ? AND {_LAST} = ? RETURNING id",
            (clean(" ".join(run.skills_used)), run.run_id, run.last),
        ).fetchone()
        if updated is not None and has_words:
            connection.execute("INSERT OR REPLACE INTO run_words (rowid, words) VALUES (?, ?)", (updated[0], run.words))


def condition(connection: sqlite3.Connection, text: str) -> tuple[str, list[str]]:
    """The condition that a run contains all words of a text, and its values."""
    phrases = list(words.phrases(text))
    clauses, values = list[str](), list[str]()
    indexed = bool(phrases) and has_table(connection)
    if indexed:
        clauses.append("id IN (SELECT rowid FROM run_words WHERE run_words MATCH ?)")
        values.append(" ".join(f'"{" ".join(phrase)}" *' for phrase in phrases))
    if len(text.split()) == 1:
        clauses.append("run_id LIKE ? ESCAPE '\\'")
        values.append(f"{literal(text.strip())}%")
    typed = text.split()[: words.MAX_PHRASES]
    plain = " AND ".join(["(goal || ' ' || skills || ' ' || tags || ' ' || note) LIKE ? ESCAPE '\\'"] * len(typed))
    clauses.append(f"indexed IS NULL AND {plain}" if indexed else plain or "1")
    values += [f"%{literal(word.strip(chr(34)))}%" for word in typed]
    return f"({' OR '.join(f'({clause})' for clause in clauses)})", values
