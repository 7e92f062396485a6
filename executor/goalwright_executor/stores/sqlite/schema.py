"""The tables of the SQLite store; opening a file migrates older versions."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import APPROVALS, SELECTIONS
from goalwright_executor.stores.errors import BadStore, NotAJournal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# "gwrt" in ASCII: distinguishes a journal from any other SQLite file.
APPLICATION = 0x67777274


_TABLES = f"""
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        goal TEXT NOT NULL,
        status TEXT NOT NULL,
        started TEXT NOT NULL,
        seconds REAL,
        tasks INTEGER NOT NULL,
        cost_usd REAL,
        parent TEXT,
        done INTEGER NOT NULL,
        skills TEXT NOT NULL,
        batch TEXT,
        batch_goal TEXT,
        conversation TEXT,
        model TEXT,
        tokens INTEGER NOT NULL DEFAULT 0,
        code TEXT,
        tags TEXT NOT NULL DEFAULT '',
        note TEXT NOT NULL DEFAULT '',
        skills_used TEXT,
        indexed INTEGER,
        stop_request TEXT,
        imported INTEGER NOT NULL DEFAULT 0,
        holder TEXT,
        beat REAL
    );
    CREATE INDEX runs_by_batch ON runs (batch, run_id) WHERE batch IS NOT NULL;
    CREATE INDEX runs_by_conversation ON runs (conversation, run_id) WHERE conversation IS NOT NULL;
    CREATE INDEX runs_by_stop_request ON runs (stop_request) WHERE stop_request IS NOT NULL;
    CREATE INDEX runs_unindexed ON runs (id) WHERE indexed IS NULL;
    -- Its rows are appended, whichever run they belong to, so that a commit of many runs writes few pages.
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        type TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (run, seq)
    );
    -- For queries over all runs: by `replay --select`, and by the page when it opens.
    CREATE INDEX events_by_type ON events (type, run) WHERE {SELECTIONS};
    CREATE INDEX events_by_approval ON events (run, seq) WHERE {APPROVALS};
    CREATE INDEX events_taken_back ON events (run) WHERE type = 'turn_taken_back';
    -- Results that other runs may use, by the hash of the request.
    CREATE TABLE results (
        run INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE INDEX results_by_key ON results (key);
    CREATE TABLE texts (id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
    CREATE TABLE uses (run INTEGER NOT NULL, sha TEXT NOT NULL, PRIMARY KEY (run, sha)) WITHOUT ROWID
"""
# Each step migrates the tables to the next version; a new version appends one.
# A file's version is the number of its steps.
STEPS: Sequence[str] = (_TABLES,)
VERSION = len(STEPS)


def migrate(connection: sqlite3.Connection, where: str, steps: Sequence[str] = STEPS) -> None:
    """Migrate a file to this version; raises if it is newer, or not a journal."""
    if check(connection, where, len(steps)) == len(steps):
        return
    with transaction(connection):
        # Another process may have migrated it while this one waited for the lock.
        for step in steps[check(connection, where, len(steps)) :]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the writes of the block together, or roll back if it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk may have ended it
            connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection, where: str, newest: int = VERSION) -> int:
    """Return the schema version of a file; raises if it is newer than this goalwright's, or not a journal."""
    # One statement: between two, another process may migrate the file.
    application, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
        "(SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if application != APPLICATION and (tables or version):
        raise NotAJournal(
            f"{where} is a database, but not a goalwright journal", hint="name another journal", journal=where
        )
    if version > newest:
        raise BadStore(
            f"{where} was written by a newer goalwright (schema {version}; this one knows {newest})",
            hint="update goalwright, or name another journal",
            journal=where,
        )
    return int(version)
