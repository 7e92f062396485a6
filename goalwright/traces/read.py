"""Find recorded runs, in the journal by id or in exported files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.runs.stored import records
from goalwright_executor.journal import trace_file
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_executor.stores.row import Row
    from goalwright_executor.stores.store import Store


# Steps whose name differs from their role.
_ROLES = {"(plan)": "decomposer", "(replan)": "replanner"}
_STEP = re.compile(r"\((\w+)\)")


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run whose rows are read on demand; `alive` if a process is running it."""

    run_id: str
    source: Store | Path
    alive: bool = False

    @property
    def journal(self) -> str | None:
        """The URL of the journal that holds it; None for a file."""
        return None if isinstance(self.source, Path) else self.source.url

    def rows(self, types: Collection[str] = (), task: str | None = None) -> Iterator[Row]:
        """Return the rows in order: all, or only some types, or one task."""
        if isinstance(self.source, Path):
            rows = (row for row in trace_file.read(self.source, types) if row.run_id == self.run_id)
            return (row for row in rows if task is None or row.body.get("task") == task)
        return self.source.rows(self.run_id, types=types, task=task)

    def step_rows(self, step: str) -> Iterator[Row]:
        """Return the rows of a task or of another step, such as `(plan)` or `(synthesis)`."""
        match = _STEP.fullmatch(step)
        role = _ROLES.get(step, match[1]) if match else None
        rows = self.rows(task=None if role else step)
        return (row for row in rows if role is None or (row.body.get("role") == role and not row.body.get("task")))


def find_traces(runs: Sequence[str], paths: Paths, settings: Settings) -> Iterator[Trace]:
    """Find runs by id or file name; a file can contain several runs."""
    store: Store | None = None
    for name in runs:
        path = Path(name)
        if _is_file(path):
            yield from (Trace(run_id, path) for run_id in _run_ids(path))
            continue
        store = store or records.recorded_runs(paths, settings)
        summary = store.find(name)
        yield Trace(summary.run_id, store, summary.status == "running")


def _is_file(path: Path) -> bool:
    """Return whether a name is a file, which may not exist, rather than a run id."""
    return path.suffix == ".jsonl" or path.is_file()


def _run_ids(path: Path) -> list[str]:
    """Return the runs in a file; raises if there are none, because replaying nothing proves nothing."""
    run_ids = list(dict.fromkeys(row.run_id for row in trace_file.read(path, ("run_started",))))
    if not run_ids:
        next(trace_file.read(path), None)  # raises if a line is not an event, and says which
        raise InputError(f"{path} contains no run", hint="`goalwright trace export` writes such a file")
    return run_ids


def recorded_selections(runs: Sequence[str], paths: Paths, settings: Settings) -> Iterator[list[Row]]:
    """Read the start and selection of runs; without names, of all runs in the journal."""
    types = ("run_started", "skills_selected")
    if not runs:
        if not settings.journal and not (paths.agents / "journal.sqlite").exists():
            return
        rows = records.recorded_runs(paths, settings).rows_of_all(types)
        yield from (list(group) for _, group in groupby(rows, key=lambda row: row.run_id))
        return
    for name in runs:
        path = Path(name)
        if _is_file(path):
            _run_ids(path)  # raises if the file has none
            rows = trace_file.read(path, types)
            yield from (list(group) for _, group in groupby(rows, key=lambda row: row.run_id))
        else:
            yield from (list(trace.rows(types)) for trace in find_traces([name], paths, settings))
