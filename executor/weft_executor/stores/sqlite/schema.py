"""The SQLite store's tables, version by version; an older file is migrated when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_executor.stores.errors import BadStore

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

# "weft" in ASCII: tells a journal from any other SQLite file.
APPLICATION = 0x77656674

SELECTIONS = "type IN ('run_started', 'skills_selected')"
APPROVALS = "type IN ('approval_asked', 'approval_given')"
# The key of a finished task's result, and the events that have one; `{}` is the table and a dot, or nothing.
KEY = "CASE WHEN json_valid({0}body) THEN json_extract({0}body, '$.key') END"
RESULTS = f"{{0}}type = 'task_finished' AND {KEY.format('{0}')} <> ''"
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
    # `replay --select` reads the selections of all runs, without scanning every event.
    f"CREATE INDEX events_by_type ON events (type, run) WHERE {SELECTIONS}",
    # Events are appended at the end of one table, whichever run they belong to: ordered by run, a commit had to write
    # at least one page for each run.
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
    # What lists of runs filter by, and what a process may ask of the one that holds a run. How many tasks of an older
    # run are done would take a look at all its events, so it stays unknown unless all are.
    f"""
    ALTER TABLE runs ADD COLUMN done INTEGER;
    ALTER TABLE runs ADD COLUMN skills TEXT NOT NULL DEFAULT '';
    ALTER TABLE runs ADD COLUMN batch TEXT;
    ALTER TABLE runs ADD COLUMN batch_goal TEXT;
    ALTER TABLE runs ADD COLUMN wish TEXT;
    CREATE INDEX runs_by_batch ON runs (batch, run_id) WHERE batch IS NOT NULL;
    CREATE INDEX runs_by_wish ON runs (wish) WHERE wish IS NOT NULL;
    UPDATE runs SET done = tasks WHERE status = 'done';
    UPDATE runs SET skills = coalesce((
        SELECT group_concat(json_extract(one.value, '$.name'), ' ')
        FROM events e, json_each(e.body, '$.selections') one
        WHERE e.{SELECTIONS} AND e.type = 'skills_selected' AND e.run = runs.id AND one.type = 'object'
    ), '')
    """,  # noqa: S608 - no input
    # Results of other runs are found by what their model was asked; not those of imported runs, which anyone may have
    # written.
    f"""
    CREATE INDEX events_by_key ON events ({KEY.format("")}, at) WHERE {RESULTS.format("")};
    ALTER TABLE runs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0
    """,
    # What all runs wait for is asked whenever a page opens: that must not read every event.
    f"CREATE INDEX events_by_approval ON events (run, seq) WHERE {APPROVALS}",
)
VERSION = len(STEPS)


def check(connection: sqlite3.Connection, where: str) -> None:
    """Raise if the file is newer than this version, or not a journal."""
    _version(connection, where, VERSION)


def migrate(connection: sqlite3.Connection, where: str, steps: Sequence[str] = STEPS) -> None:
    """Bring a file to this version; raises if it is newer, or not a journal."""
    if _version(connection, where, len(steps)) == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated it while this one waited.
        for step in steps[_version(connection, where, len(steps)) :]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, where: str, newest: int) -> int:
    # In one statement: between two, another process may migrate it.
    application, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
        "(SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if application != APPLICATION and (tables or version):
        raise BadStore(f"{where} is a database, but not a weft journal", hint="name another file with --journal")
    if version > newest:
        raise BadStore(
            f"{where} was written by a newer weft (schema {version}; this one knows {newest})",
            hint="update weft, or name another file with --journal",
        )
    return int(version)
