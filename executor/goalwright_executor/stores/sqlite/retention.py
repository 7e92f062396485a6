"""Deleting runs a few at a time: who writes to the journal meanwhile waits for a moment, not for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.stores.sqlite import run_list, search

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

# How many runs, and how many texts, are deleted in one transaction.
RUNS, TEXTS = 500, 5_000
# How long those who work on runs have between two of these, in seconds: SQLite tries again every tenth of a second.
PAUSE = 0.12


def is_in_use(connection: sqlite3.Connection) -> bool:
    """Whether a live process works on a run."""
    held = connection.execute("SELECT holder, beat FROM runs WHERE holder IS NOT NULL")
    return any(run_list.is_leased(*one) for one in held)


def delete_runs(connection: sqlite3.Connection, run_ids: Sequence[str]) -> list[str]:
    """Delete those of some runs that are not leased; returns their ids."""
    indexed = (("run_words", "rowid"),) if search.has_table(connection) else ()
    deleted = []
    for run_id in run_ids:
        # Checked inside the transaction: a process may have claimed the run since it was chosen.
        found = connection.execute("SELECT id, holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if found is None or run_list.is_leased(found[1], found[2]):
            continue
        for table, key in (("events", "run"), ("results", "run"), ("uses", "run"), *indexed, ("runs", "id")):
            connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (found[0],))  # noqa: S608 - no input
        deleted.append(run_id)
    return deleted


def unused_texts(connection: sqlite3.Connection) -> list[int]:
    """The keys of the texts that no run uses."""
    return [key for (key,) in connection.execute("SELECT id FROM texts WHERE sha NOT IN (SELECT sha FROM uses)")]


def delete_texts(connection: sqlite3.Connection, keys: Sequence[int]) -> None:
    """Delete some texts, unless a run has come to use one since."""
    marks = ", ".join("?" * len(keys))
    unused = "sha NOT IN (SELECT sha FROM uses)"
    connection.execute(f"DELETE FROM texts WHERE id IN ({marks}) AND {unused}", keys)  # noqa: S608 - no input
