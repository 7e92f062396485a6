"""Recorded runs wherever they are: in the journal by id, or in exported files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from executor.journal import trace_file
from skills.errors import InputError
from weft.runs import records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from executor.stores.row import Row
    from executor.stores.store import Store
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded run, `alive` where a process is at it; its rows are read when they are asked for."""

    run_id: str
    source: Store | Path
    alive: bool = False

    @property
    def journal(self) -> str | None:
        """The journal that holds it; None for a file."""
        return None if isinstance(self.source, Path) else self.source.url

    def rows(self, types: Collection[str] = (), task: str | None = None) -> Iterator[Row]:
        """Its rows in order, or those of some types, or of a task."""
        if isinstance(self.source, Path):
            own = (row for row in trace_file.read(self.source, types) if row.run_id == self.run_id)
            return (row for row in own if task is None or row.body.get("task") == task)
        return self.source.rows(self.run_id, types=types, task=task)


def named(runs: Sequence[str], paths: Paths, settings: Settings) -> Iterator[Trace]:
    """The runs that ids and file names stand for; a file may hold several."""
    store: Store | None = None
    for name in runs:
        path = Path(name)
        if path.suffix == ".jsonl" or path.is_file():
            yield from (Trace(run_id, path) for run_id in _runs_in(path))
            continue
        store = store or records.kept(paths, settings)
        summary = store.find(name)
        yield Trace(summary.run_id, store, summary.status == "running")


def _runs_in(path: Path) -> list[str]:
    """The runs in a file; one that holds none is refused, for a replay of nothing would prove nothing."""
    found = list(dict.fromkeys(row.run_id for row in trace_file.read(path, ("run_started",))))
    if not found:
        next(trace_file.read(path), None)  # says which line is no event
        raise InputError(f"{path} holds no run", hint="write one with: weft trace export RUN -o FILE")
    return found


def selections(runs: Sequence[str], paths: Paths, settings: Settings) -> Iterator[list[Row]]:
    """Each run's beginning and selection; of all runs in the journal where none is named."""
    types = ("run_started", "skills_selected")
    if not runs:
        if not settings.journal and not (paths.agents / "journal.sqlite").exists():
            return
        rows = records.kept(paths, settings).rows_of_all(types)
        yield from (list(group) for _, group in groupby(rows, key=lambda row: row.run_id))
        return
    for name in runs:
        path = Path(name)
        if path.suffix == ".jsonl" or path.is_file():
            _runs_in(path)
            rows = trace_file.read(path, types)
            yield from (list(group) for _, group in groupby(rows, key=lambda row: row.run_id))
        else:
            yield from (list(one.rows(types)) for one in named([name], paths, settings))
