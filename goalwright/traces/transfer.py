"""Import runs from files into a journal, and delete runs from it."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

from goalwright.runs.stored import records
from goalwright_executor.journal import trace_file
from goalwright_executor.journal.summary import updated
from goalwright_executor.journal.trace_file import TraceFile
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.stores.errors import RunExists, UnknownRun
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_planner.events import decode
from goalwright_planner.events.approvals import IMPORTED
from goalwright_skills import safe_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from goalwright.settings.paths import Paths
    from goalwright_executor.stores.store import Store


_CHUNK_SIZE = 5_000  # events written together

Chunk = tuple[list[Row], dict[str, RunSummary]]


class Deleted(NamedTuple):
    """The deleted runs, and their folders that could not be removed."""

    runs: Sequence[str]
    left: Sequence[Path]


def import_runs(files: Sequence[Path | TraceFile], store: Store, paths: Paths) -> list[str]:
    """Import the runs in files atomically and return their ids."""
    run_ids = _validate(files, store)
    store.import_runs(_chunks(files, paths))
    return run_ids


def _chunks(files: Sequence[Path | TraceFile], paths: Paths) -> Iterator[Chunk]:
    """Yield the rows in chunks, with the summaries of their runs so far."""
    chunk: list[Row] = []
    summaries: dict[str, RunSummary] = {}
    for run_id, rows in groupby(chain.from_iterable(map(trace_file.read, files)), key=lambda row: row.run_id):
        capture, summary = records.capture(paths, run_id), RunSummary(run_id, "", "interrupted", "")
        for row in rows:
            body = capture.value(capture.local(row.body))  # redact secrets and map folders to those of this machine
            if row.type == "approval_given" and not body["by"].startswith(IMPORTED):
                body["by"] = f"{IMPORTED}{body['by']}"
            chunk.append(Row(run_id, row.seq, row.at, row.type, body))
            event = decode(row.type, body)
            if event is not None:
                summary = updated(summary, event, row.at)
            summaries[run_id] = summary
            if len(chunk) >= _CHUNK_SIZE:
                yield chunk, summaries
                chunk, summaries = [], {}
    yield chunk, summaries


def _validate(files: Sequence[Path | TraceFile], store: Store) -> list[str]:
    """Return the ids of the runs in files; raises if a run is incomplete or already stored."""
    seen: dict[str, None] = {}
    for file in files:
        before, name = len(seen), file.name if isinstance(file, TraceFile) else str(file)
        for run_id, rows in groupby(trace_file.read(file), key=lambda row: row.run_id):
            if run_id in seen:
                raise InputError(f"{name}: run {run_id} appears twice", hint="leave one of the files out")
            if _exists(run_id, store):
                raise RunExists(run_id)
            _check_complete(run_id, rows, name)
            seen[run_id] = None
        if len(seen) == before:
            raise InputError(f"{name} contains no run", hint="`goalwright trace export` writes such a file")
    return list(seen)


def _check_complete(run_id: str, rows: Iterator[Row], name: str) -> None:
    """Read all rows, which validates them; the first must be `run_started`."""
    if next(rows).type != "run_started":
        raise InputError(
            f"{name}: run {run_id} is incomplete: it does not begin with run_started",
            hint="export the run again with `goalwright trace export`",
        )
    for _ in rows:
        pass


def delete_runs(run_ids: Collection[str], store: Store, paths: Paths) -> Deleted:
    """Delete runs and their artifacts, except those in use by a process."""
    home = paths.agents / "runs"
    safe_files.refuse_links(home, below=paths.workspace)
    try:
        deleted = store.delete(run_ids)
    except BaseException:  # such as Ctrl-C: runs are deleted in batches, so some are already gone
        _remove_folders([run_id for run_id in run_ids if not _exists(run_id, store)], paths, home)
        raise
    return Deleted(deleted, _remove_folders(deleted, paths, home))


def _remove_folders(run_ids: Iterable[str], paths: Paths, home: Path) -> list[Path]:
    """Remove the folders of runs; returns those that could not be removed."""
    folders = [Artifacts.of(paths.workspace, run_id).folder.parent for run_id in run_ids]
    # An imported run id could point outside the folder.
    own = [folder for folder in folders if folder.parent == home and folder.name not in (".", "..")]
    return [folder for folder in own if not safe_files.remove_tree(folder)]


def _exists(run_id: str, store: Store) -> bool:
    try:
        return store.find(run_id).run_id == run_id
    except UnknownRun:
        return False
