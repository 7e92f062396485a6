"""Journals as a killed process leaves them: cut off after an event."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.stores.row import Row

_NUMBER = re.compile(r"\[\d+\]|#\d+")


def copied(workspace: Path) -> sqlite3.Connection:
    """The journal as it is now."""
    copy = sqlite3.connect(":memory:")
    with closing(sqlite3.connect(workspace / ".agents" / "journal.sqlite")) as database:
        database.backup(copy)
    return copy


def cut(whole: sqlite3.Connection, workspace: Path, seq: int) -> None:
    """Leave the journal's last run as if its process had been killed after that event."""
    with closing(sqlite3.connect(workspace / ".agents" / "journal.sqlite")) as database, database:
        whole.backup(database)
        (run,) = database.execute("SELECT max(id) FROM runs").fetchone()
        database.execute("DELETE FROM events WHERE run = ? AND seq > ?", (run, seq))
        database.execute("UPDATE runs SET status = 'running' WHERE id = ?", (run,))


def kinds(recorded: list[Row]) -> list[int]:
    """The numbers of the events after which a run is cut off: of each kind of event of each task, the first.

    The items and rounds of a task record the same, one after another.
    """
    first: dict[tuple[str, str], int] = {}
    for row in recorded[:-1]:
        first.setdefault((row.type, _NUMBER.sub("", str(row.body.get("task")))), row.seq)
    return list(first.values())
