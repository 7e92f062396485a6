"""The SQLite store's tables; a file of an older version is migrated when it is opened."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import APPROVALS, SELECTIONS
from goalwright_executor.stores.errors import BadStore, EarlierForm, NotAJournal
from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# "gwrt" in ASCII: tells a journal from any other SQLite file.
APPLICATION = 0x67777274
# That of the journals before 0.1.0, which no version reads.
EARLIER_APPLICATION = 0x77656674


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
        stop_request TEXT,
        imported INTEGER NOT NULL DEFAULT 0,
        holder TEXT,
        beat REAL
    );
    CREATE INDEX runs_by_batch ON runs (batch, run_id) WHERE batch IS NOT NULL;
    CREATE INDEX runs_by_stop_request ON runs (stop_request) WHERE stop_request IS NOT NULL;
    -- Appended at its end, whichever run an event belongs to: a commit of many runs writes few pages.
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        type TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (run, seq)
    );
    -- What `replay --select` reads of all runs, and what a page asks for whenever it opens.
    CREATE INDEX events_by_type ON events (type, run) WHERE {SELECTIONS};
    CREATE INDEX events_by_approval ON events (run, seq) WHERE {APPROVALS};
    -- The results that other runs may use, by what their tasks were asked.
    CREATE TABLE results (
        run INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE INDEX results_by_key ON results (key);
    CREATE TABLE texts (id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
    CREATE TABLE uses (run INTEGER NOT NULL, sha TEXT NOT NULL, PRIMARY KEY (run, sha)) WITHOUT ROWID
"""
# What makes each version out of the one before it. The first is 0.1.0's; a later one is added below it, and the version
# of a file says how many of them it has.
# Tags and notes, what lists are filtered by, and whether a run is in the index (`search.py` makes that).
_FOUND = """
    ALTER TABLE runs ADD COLUMN model TEXT;
    ALTER TABLE runs ADD COLUMN tokens INTEGER;
    ALTER TABLE runs ADD COLUMN code TEXT;
    ALTER TABLE runs ADD COLUMN tags TEXT NOT NULL DEFAULT '';
    ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';
    ALTER TABLE runs ADD COLUMN skills_used TEXT;
    ALTER TABLE runs ADD COLUMN indexed INTEGER;
    CREATE INDEX runs_unindexed ON runs (id) WHERE indexed IS NULL
"""
_CONVERSATIONS = """
    ALTER TABLE runs ADD COLUMN conversation TEXT;
    CREATE INDEX runs_by_conversation ON runs (conversation, run_id) WHERE conversation IS NOT NULL;
    CREATE INDEX events_taken_back ON events (run) WHERE type = 'turn_taken_back'
"""
STEPS: Sequence[str] = (_TABLES, _CONVERSATIONS, _FOUND)
# What a file of an earlier version lacks in `runs`, for one that can only be read.
_LACKED = (
    (2, "NULL AS conversation"),
    (3, "NULL AS model, NULL AS tokens, NULL AS code, '' AS tags, '' AS note, NULL AS skills_used, NULL AS indexed"),
)
VERSION = len(STEPS)


def show_as_current(connection: sqlite3.Connection) -> None:
    """Let a file that cannot be migrated, because it can only be read, look like one of this version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if lacked := [column for since, column in _LACKED if version < since]:
        connection.execute(f"CREATE TEMP VIEW runs AS SELECT *, {', '.join(lacked)} FROM main.runs")  # noqa: S608 - no input


def refuse_earlier(path: Path) -> None:
    """Raise if a file is a journal from before 0.1.0; it is read as one that nobody changes, which changes nothing.

    SQLite reads it, not Python: closing a file takes away all locks that this process has on it, those of its open
    connections too, and then the next process that closes the journal throws their newest events away.
    """
    try:
        untrusted_files.check_regular(path, sys.maxsize)
    except FileNotFoundError:
        return
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
        except sqlite3.DatabaseError:  # not SQLite's at all, which is said when it is opened
            return
    if application == EARLIER_APPLICATION:
        raise EarlierForm(str(path))


def migrate(connection: sqlite3.Connection, where: str, steps: Sequence[str] = STEPS) -> None:
    """Bring a file to this version; raises if it is newer, or not a journal."""
    if check(connection, where, len(steps)) == len(steps):
        return
    with transaction(connection):
        # Another process may have migrated it while this one waited.
        for step in steps[check(connection, where, len(steps)) :]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """What is written in the block is written together, or not at all if it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk may have ended it
            connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection, where: str, newest: int = VERSION) -> int:
    """The version of the file's tables; raises if it is newer than this goalwright knows, or not a journal."""
    # In one statement: between two, another process may migrate it.
    application, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
        "(SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if application == EARLIER_APPLICATION:
        raise EarlierForm(where)
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
