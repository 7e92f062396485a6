"""The results file: one whole line for each goal as it ends, each id once; and what a batch needs to go on.

Beside it, while a batch is under way, `<file>.runs` says which run belongs to which goal, so that a goal that was cut
off goes on from its journal. It is gone once the batch is through.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Past:
    """What an earlier sitting left of a goal: its content then, its run, and how it ended, if it did."""

    content_hash: str
    run_id: str
    status: str | None = None


class Results:
    """An open results file."""

    def __init__(self, path: Path, errors: Path | None = None) -> None:
        self._path = path
        self._file = path.open("a", encoding="utf-8")
        self._errors = errors.open("a", encoding="utf-8") if errors else None
        self._runs = runs_path(path).open("a", encoding="utf-8")

    def began(self, goal_id: str, content_hash: str, run_id: str) -> None:
        """Note which run a goal has, before it spends anything."""
        _append(self._runs, {"id": goal_id, "content_hash": content_hash, "run_id": run_id})

    def ended(self, row: dict[str, Any]) -> None:
        """Add a goal's line, whole and on disk."""
        apart = self._errors is not None and row["status"] != "done"
        _append(self._errors if apart and self._errors else self._file, row)

    def close(self, *, through: bool) -> None:
        """Close the files; where all goals are through, what was only needed to go on is removed."""
        for file in (self._file, self._errors, self._runs):
            if file is not None:
                file.close()
        if through:
            runs_path(self._path).unlink(missing_ok=True)


def runs_path(path: Path) -> Path:
    """Where the runs under way are noted."""
    return path.with_name(path.name + ".runs")


def fresh(*paths: Path | None) -> None:
    """Refuse to touch results that are there already."""
    for path in paths:
        if path is None:
            continue
        if path.exists():
            raise InputError(
                f"{path} exists already, and nothing was touched",
                hint="--resume goes on with it; otherwise name another file with -o, or move this one away",
            )
        if not path.absolute().parent.is_dir():
            raise InputError(f"there is no folder for {path}", hint="make it, or name another file with -o")


def recall(path: Path, errors: Path | None = None) -> dict[str, Past]:
    """What earlier sittings left; a half last line is dropped from the file."""
    past: dict[str, Past] = {}
    for row in _rows(runs_path(path)):
        past[row["id"]] = Past(row["content_hash"], row["run_id"])
    for file in (path, errors):
        for row in _rows(file) if file else ():
            past[row["id"]] = Past(row.get("content_hash", ""), row["run_id"], row["status"])
    return past


def drop(path: Path, ids: Iterable[str]) -> None:
    """Rewrite a results file without these goals' lines, in one step."""
    gone = set(ids)
    if not gone or not path.exists():
        return
    scratch = path.with_name(path.name + ".new")
    with scratch.open("w", encoding="utf-8") as file:
        for row in _rows(path):
            if row["id"] not in gone:
                file.write(_line(row))
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file; what follows the last of them is cut off."""
    if not path.exists():
        return
    whole = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(
                    f"{path}, line {number} is no JSON: {error}",
                    hint="this is no results file of weft; nothing was touched",
                ) from error
            if not isinstance(row, dict) or "id" not in row or "run_id" not in row:
                raise InputError(f"{path}, line {number} is no result of weft", hint="name the right file with -o")
            whole += len(line)
            yield row
    if whole < path.stat().st_size:
        os.truncate(path, whole)


def _append(file: IO[str], row: dict[str, Any]) -> None:
    file.write(_line(row))
    file.flush()


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
