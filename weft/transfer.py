"""Runs on the move: into a journal from files, and out of it for good."""

from __future__ import annotations

import shutil
from itertools import groupby
from typing import TYPE_CHECKING

from executor.artifacts import Artifacts
from executor.journal import codec, trace
from executor.journal.errors import UnknownRun
from executor.journal.row import Row, Summary
from executor.journal.tally import noted
from skills.errors import InputError
from weft import records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from executor.journal.store import Store
    from weft.places import Places


def take(file: Path, store: Store, places: Places) -> Iterator[str]:
    """Take the runs in a file into a store; gives their ids."""
    for run_id, rows in groupby(trace.read(file), key=lambda row: row.run_id):
        if _is_there(run_id, store):
            raise InputError(f"run {run_id} is in the journal already", hint="forget it first: weft trace prune RUN")
        capture = records.capture(places, run_id)
        summary, kept = Summary(run_id, "", "interrupted", ""), []
        for row in rows:
            body = capture.value(capture.local(row.body))  # it was written down before, elsewhere
            kept.append(Row(run_id, row.seq, row.at, row.type, body))
            event = codec.event(row.type, body)
            if event is not None:
                summary = noted(summary, event, row.at)
        store.append(kept, {run_id: summary})
        yield run_id


def forget(run_ids: Collection[str], store: Store, places: Places) -> None:
    """Delete runs with their artifacts."""
    store.delete(run_ids)
    for run_id in run_ids:
        shutil.rmtree(Artifacts.of(places.workspace, run_id).folder.parent, ignore_errors=True)


def _is_there(run_id: str, store: Store) -> bool:
    try:
        return store.find(run_id).run_id == run_id
    except UnknownRun:
        return False
