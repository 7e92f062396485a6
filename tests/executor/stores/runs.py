"""Runs, rows and journals for tests of stores."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_executor.stores.urls import path_of

if TYPE_CHECKING:
    from goalwright_executor.stores.lease import Holder
    from goalwright_executor.stores.store import Store


def line(run_id: str, status: str = "done") -> RunSummary:
    return RunSummary(run_id, f"goal of {run_id}", status, "2026-01-01T00:00:00.000000Z", 1.0, 2, 0.5)


def row(run_id: str, seq: int, kind: str = "warned", **body: object) -> Row:
    return Row(run_id, seq, "2026-01-01T00:00:00.000000Z", kind, dict(body))


def fill(store: Store, *run_ids: str) -> None:
    for run_id in run_ids:
        store.append(
            [row(run_id, 1, message="x" * 1000), row(run_id, 2, "task_started", task="a")], {run_id: line(run_id)}
        )


def filled(path: Path, *run_ids: str) -> SqliteStore:
    store = SqliteStore(path)
    fill(store, *run_ids)
    return store


class Place:
    """A journal of any kind; its open stores are closed at the end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opened: list[Store] = []

    @property
    def kind(self) -> str:
        return self.url.partition(":")[0]

    def open(self) -> Store:
        """Open the journal, as another process would."""
        self._opened.append(open_store(self.url))
        return self._opened[-1]

    def filled(self, *run_ids: str) -> Store:
        """Open the journal and add these runs."""
        store = self.open()
        fill(store, *run_ids)
        return store

    def hand_to(self, run_id: str, holder: Holder, *, silent: float = 0.0) -> None:
        """Lease a run to another process whose last heartbeat was `silent` seconds ago."""
        if self.kind == "sqlite":
            connection = sqlite3.connect(path_of(self.url, Path("/")))
            beat = "UPDATE runs SET holder = ?, beat = unixepoch('now') - ? WHERE run_id = ?"
            connection.execute(beat, (holder.to_json(), silent, run_id))
            connection.commit()
            connection.close()
            return
        import psycopg

        from goalwright_executor.stores.postgres.address import address_of

        address, name = address_of(self.url), holder.to_json()
        with psycopg.connect(**address.parameters, options=f"-c search_path={address.schema}") as database:
            beat = (
                "INSERT INTO workers (id, beat) VALUES (%s, clock_timestamp() - make_interval(secs => %s)) "
                "ON CONFLICT (id) DO UPDATE SET beat = excluded.beat"
            )
            database.execute(beat, (name, silent))
            database.execute("UPDATE runs SET holder = %s WHERE run_id = %s", (name, run_id))

    def close(self) -> None:
        for store in self._opened:
            store.close()
