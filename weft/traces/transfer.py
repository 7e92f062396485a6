"""Runs on the move: into a journal from files, and out of it for good."""

from __future__ import annotations

import shutil
from itertools import chain, groupby
from typing import TYPE_CHECKING

from executor.journal import codec, trace_file
from executor.journal.summary import updated
from executor.stores.errors import RunExists, UnknownRun
from executor.stores.row import Row, RunSummary
from executor.tasks.artifacts import Artifacts
from skills.errors import InputError
from weft.runs import records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from executor.stores.store import Store
    from weft.settings.paths import Paths


# Events that are held in memory and written in one go.
_AT_ONCE = 5_000

Piece = tuple[list[Row], dict[str, RunSummary]]


def take(files: Sequence[Path], store: Store, paths: Paths) -> list[str]:
    """Take the runs in files into a store; gives their ids. Whatever breaks it off, nothing of them is left behind."""
    ids = _checked(files, store)
    store.import_runs(_pieces(files, paths))
    return ids


def _pieces(files: Sequence[Path], paths: Paths) -> Iterator[Piece]:
    """The runs' rows a few at a time, with the line of each run as far as it goes."""
    kept: list[Row] = []
    lines: dict[str, RunSummary] = {}
    for run_id, rows in groupby(chain.from_iterable(map(trace_file.read, files)), key=lambda row: row.run_id):
        capture, summary = records.capture(paths, run_id), RunSummary(run_id, "", "interrupted", "")
        for row in rows:
            body = capture.value(capture.local(row.body))  # it was written down before, elsewhere
            kept.append(Row(run_id, row.seq, row.at, row.type, body))
            event = codec.event(row.type, body)
            if event is not None:
                summary = updated(summary, event, row.at)
            lines[run_id] = summary
            if len(kept) >= _AT_ONCE:
                yield kept, lines
                kept, lines = [], {}
    yield kept, lines


def _checked(files: Sequence[Path], store: Store) -> list[str]:
    """The ids of the runs in files; refuses those that are not whole, or are there already."""
    seen: dict[str, None] = {}
    for file in files:
        before = len(seen)
        for run_id, rows in groupby(trace_file.read(file), key=lambda row: row.run_id):
            if run_id in seen:
                raise InputError(
                    f"{file}: the events of run {run_id} do not all stand together, or stand twice",
                    hint="each run stands once, its events ordered by seq",
                )
            if _is_there(run_id, store):
                raise RunExists(run_id)
            _check_run(run_id, rows, file)
            seen[run_id] = None
        if len(seen) == before:
            raise InputError(f"{file} holds no run", hint="write one with: weft trace export RUN -o FILE")
    return list(seen)


def _check_run(run_id: str, rows: Iterable[Row], file: Path) -> None:
    for expected, row in enumerate(rows, start=1):
        if row.seq != expected or (expected == 1 and row.type != "run_started"):
            raise InputError(
                f"{file}: run {run_id} is not whole: its event {expected} is missing",
                hint="export the run again with weft trace export",
            )


def forget(run_ids: Collection[str], store: Store, paths: Paths) -> Sequence[str]:
    """Delete runs with their artifacts, save those that a process is at; gives those deleted."""
    gone = store.delete(run_ids)
    home = paths.agents / "runs"
    for run_id in gone:
        folder = Artifacts.of(paths.workspace, run_id).folder.parent
        if folder.parent == home and folder.name not in (".", ".."):  # an id may have come from anywhere
            shutil.rmtree(folder, ignore_errors=True)
    return gone


def _is_there(run_id: str, store: Store) -> bool:
    try:
        return store.find(run_id).run_id == run_id
    except UnknownRun:
        return False
