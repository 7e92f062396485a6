"""Runs that come in pieces, into a journal's SQLite file all at once: gathered in a file of their own, then copied."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from executor.stores.errors import RunThere
from executor.stores.sqlite.statements import LINE

if TYPE_CHECKING:
    from pathlib import Path

# Each file numbers its runs by itself: what belongs to one is found by the run's id.
_NUMBERED = "JOIN gathered.runs g ON g.id = one.run JOIN main.runs m ON m.run_id = g.run_id"
_REST = "seq, at, type, task, body"
_COPY = (
    f"INSERT INTO main.runs ({LINE}) SELECT {LINE} FROM gathered.runs ORDER BY id",  # noqa: S608 - no input
    "INSERT OR IGNORE INTO main.texts (sha, text) SELECT sha, text FROM gathered.texts ORDER BY id",
    f"INSERT INTO main.uses (run, sha) SELECT m.id, one.sha FROM gathered.uses one {_NUMBERED}",  # noqa: S608
    f"INSERT INTO main.events (run, {_REST}) SELECT m.id, {_REST} FROM gathered.events one {_NUMBERED} ORDER BY one.id",  # noqa: S608
)


def copy(connection: sqlite3.Connection, gathered: Path) -> None:
    """Copy all runs of another journal's file into this one, in one transaction."""
    connection.execute("ATTACH ? AS gathered", (gathered.as_uri(),))
    try:
        connection.execute("BEGIN IMMEDIATE")
        _refuse_known(connection)
        for statement in _COPY:
            connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise
    finally:
        with suppress(sqlite3.OperationalError):
            connection.execute("DETACH gathered")


def _refuse_known(connection: sqlite3.Connection) -> None:
    known = "SELECT run_id FROM gathered.runs WHERE run_id IN (SELECT run_id FROM main.runs) ORDER BY id LIMIT 1"
    found = connection.execute(known).fetchone()
    if found is not None:
        raise RunThere(found[0])
