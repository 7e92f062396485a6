"""Copies all runs of one SQLite journal into another, in one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import SUMMARY
from goalwright_executor.stores.errors import RunExists
from goalwright_executor.stores.sqlite.schema import transaction

if TYPE_CHECKING:
    from pathlib import Path

# Each file has its own primary keys: rows are matched by the run's id.
_BY_RUN = "JOIN gathered.runs g ON g.id = one.run JOIN main.runs m ON m.run_id = g.run_id"
_REST = "seq, at, type, body"
_COPY = (
    f"INSERT INTO main.runs ({SUMMARY}, imported) SELECT {SUMMARY}, 1 FROM gathered.runs ORDER BY id",  # noqa: S608 - no input
    "INSERT OR IGNORE INTO main.texts (sha, text) SELECT sha, text FROM gathered.texts ORDER BY id",
    f"INSERT INTO main.uses (run, sha) SELECT m.id, one.sha FROM gathered.uses one {_BY_RUN}",  # noqa: S608
    f"INSERT INTO main.events (run, {_REST}) SELECT m.id, {_REST} FROM gathered.events one {_BY_RUN} ORDER BY one.id",  # noqa: S608
    f"INSERT INTO main.results (run, seq, key) SELECT m.id, one.seq, one.key FROM gathered.results one {_BY_RUN}",  # noqa: S608
)


def copy(connection: sqlite3.Connection, gathered: Path) -> None:
    """Copy the runs of the journal file `gathered` into this one; all or nothing."""
    connection.execute("ATTACH ? AS gathered", (gathered.as_uri(),))
    try:
        with transaction(connection):
            _refuse_duplicates(connection)
            for statement in _COPY:
                connection.execute(statement)
    finally:
        with suppress(sqlite3.OperationalError):
            connection.execute("DETACH gathered")


def _refuse_duplicates(connection: sqlite3.Connection) -> None:
    known = "SELECT run_id FROM gathered.runs WHERE run_id IN (SELECT run_id FROM main.runs) ORDER BY id LIMIT 1"
    found = connection.execute(known).fetchone()
    if found is not None:
        raise RunExists(found[0])
