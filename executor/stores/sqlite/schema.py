"""The SQLite store's tables, version by version; a file of an older version is brought forward when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.stores.errors import BadStore

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

# "weft" as a number: tells a journal from any other SQLite file.
APPLICATION = 0x77656674

SELECTIONS = "type IN ('run_started', 'skills_selected')"
STEPS: Sequence[str] = (
    """
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
        holder TEXT,
        beat REAL
    );
    CREATE TABLE events (
        run INTEGER NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        type TEXT NOT NULL,
        task TEXT,
        body TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE TABLE texts (id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
    CREATE TABLE uses (run INTEGER NOT NULL, sha TEXT NOT NULL, PRIMARY KEY (run, sha)) WITHOUT ROWID;
    """,
    # Selections of all runs are looked at together by `replay --select`, without a walk over every event.
    f"CREATE INDEX events_by_type ON events (type, run) WHERE {SELECTIONS}",
    # Events are a log, appended at its end whichever run they are of: ordered by run, each run that a commit concerns
    # had a page of its own to write.
    """
    DROP INDEX events_by_type;
    ALTER TABLE events RENAME TO events_by_run;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        type TEXT NOT NULL,
        task TEXT,
        body TEXT NOT NULL,
        UNIQUE (run, seq)
    );
    INSERT INTO events (run, seq, at, type, task, body)
        SELECT run, seq, at, type, task, body FROM events_by_run ORDER BY run, seq;
    DROP TABLE events_by_run
    """,
    f"CREATE INDEX events_by_type ON events (type, run) WHERE {SELECTIONS}",
)
VERSION = len(STEPS)


def check(connection: sqlite3.Connection, where: str) -> None:
    """Refuse a file that is newer, or that is no journal at all."""
    _version(connection, where, VERSION)


def migrate(connection: sqlite3.Connection, where: str, steps: Sequence[str] = STEPS) -> None:
    """Bring a file to this version; refuse one that is newer, or that is no journal at all."""
    if _version(connection, where, len(steps)) == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it while this one waited.
        for step in steps[_version(connection, where, len(steps)) :]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, where: str, newest: int) -> int:
    # In one statement: another process may bring it forward between two.
    application, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
        "(SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if application != APPLICATION and (tables or version):
        raise BadStore(f"{where} is a database, but no journal of weft", hint="name another file with --journal")
    if version > newest:
        raise BadStore(
            f"{where} was written by a newer weft (schema {version}; this one knows {newest})",
            hint="update weft, or name another file with --journal",
        )
    return int(version)
