"""The results file: one whole line for each goal as it ends, each id once; and what a batch needs to go on.

Beside it, while a batch is under way, `<file>.runs` says which run belongs to which goal, so that a goal that was cut
off goes on from its journal, and which file has the goals that are not done, where they stand apart; whoever writes
results holds a lock on it. It is gone once the batch is through and no goal stands apart.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from skills.errors import InputError, WeftError
from skills.file_lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """What an earlier sitting left of a goal: its content then, its run, and how it ended, if it did."""

    content_hash: str
    run_id: str
    status: str | None = None


_RESULT = {"id", "run_id", "status"}
_RUN = {"id", "run_id", "content_hash"}


class Results:
    """An open results file."""

    def __init__(self, path: Path, errors: Path | None = None) -> None:
        self._path = path
        self._file = _opened(path)
        self._errors = _opened(errors) if errors else None
        self._runs = _opened(runs_path(path))
        if errors is not None:  # before any line goes there: a later sitting finds it without being told
            _append(self._runs, {"errors": _beside(path, errors)})

    def began(self, goal_id: str, content_hash: str, run_id: str) -> None:
        """Note which run a goal has, before it spends anything."""
        _append(self._runs, {"id": goal_id, "content_hash": content_hash, "run_id": run_id})

    def ended(self, row: dict[str, Any]) -> None:
        """Add a goal's line, whole and on disk."""
        apart = self._errors is not None and row["status"] != "done"
        _append(self._errors if apart and self._errors else self._file, row)

    def close(self, *, through: bool) -> None:
        """Close the files; where all goals are through, what a later sitting does not need is removed."""
        for file in filter(None, (self._file, self._errors, self._runs)):
            with suppress(OSError):  # a line that could not be written was said to be
                file.close()
        if through and not any(file.stat().st_size for file in apart(self._path)):
            runs_path(self._path).unlink(missing_ok=True)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other batches from the same results while the block lasts."""
    if sys.platform == "win32":  # a lock there would also keep this process from writing the file
        yield
        return
    runs = runs_path(path)
    while True:
        with _opened(runs) as file:
            if not try_lock(file.fileno()):
                raise InputError(
                    f"another batch is writing {path}, and nothing was touched",
                    hint="wait for its end, or name another file with -o",
                )
            if not _is_still(runs, file):
                continue  # the other batch ended, and took it away, between our opening and locking it
            try:
                yield
            finally:
                with suppress(FileNotFoundError):
                    if not runs.stat().st_size:
                        runs.unlink()
            return


def _is_still(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def runs_path(path: Path) -> Path:
    """Where the runs under way are noted."""
    return path.with_name(path.name + ".runs")


def apart(path: Path) -> list[Path]:
    """The files to which earlier sittings wrote goals that are not done, the latest last, as far as they are there."""
    noted = [path.parent / row["errors"] for row in _notes(path) if "errors" in row]
    return [file for file in reversed(dict.fromkeys(reversed(noted))) if file.exists()]


def _beside(path: Path, errors: Path) -> str:
    """A file's path as seen from the results, so that a folder that is moved as a whole goes on as it was."""
    here, there = path.absolute().parent, errors.absolute()
    return str(there.relative_to(here) if there.is_relative_to(here) else there)


def forget(path: Path) -> None:
    """Drop what is noted of a batch whose results somebody took away; it stays one file, for there is a lock on it."""
    if runs_path(path).exists():
        os.truncate(runs_path(path), 0)


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


def recall(path: Path, *errors: Path) -> dict[str, EarlierResult]:
    """What earlier sittings left; a half last line is dropped, and so is every line but one of the same goal."""
    history = {
        row["id"]: EarlierResult(row["content_hash"], row["run_id"]) for row in _notes(path) if "errors" not in row
    }
    ended: dict[str, EarlierResult] = {}
    for file in (path, *errors):
        ended |= _ended(file, ended)
    return history | ended


def _ended(path: Path, elsewhere: Mapping[str, EarlierResult]) -> dict[str, EarlierResult]:
    """The goals that have a line in a file and none elsewhere; where one has two there, only the last is left."""
    found: dict[str, EarlierResult] = {}
    last: dict[str, int] = {}
    lines = 0
    for number, row in enumerate(_rows(path)):
        lines += 1
        if row["id"] not in elsewhere:
            last[row["id"]] = number
            found[row["id"]] = EarlierResult(row.get("content_hash", ""), row["run_id"], row["status"])
    if len(last) < lines:
        _rewrite(path, (row for number, row in enumerate(_rows(path)) if last.get(row["id"]) == number))
    return found


def read(*paths: Path) -> Iterator[dict[str, Any]]:
    """The lines of results files, of this sitting and of earlier ones."""
    for path in paths:
        yield from _rows(path)


def remember(path: Path, goals: Mapping[str, EarlierResult]) -> None:
    """Keep, on disk, which runs these goals have: their lines are about to be dropped."""
    with _opened(runs_path(path)) as file:
        for goal_id, history in goals.items():
            if history.run_id:
                _append(file, {"id": goal_id, "content_hash": history.content_hash, "run_id": history.run_id})
        os.fsync(file.fileno())


def drop(path: Path, ids: Iterable[str]) -> None:
    """Rewrite a results file without these goals' lines, in one step."""
    gone = set(ids)
    if gone and path.exists():
        _rewrite(path, (row for row in _rows(path) if row["id"] not in gone))


def _rewrite(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    scratch = path.with_name(path.name + ".new")
    with _opened(scratch, "w") as file:
        for row in rows:
            file.write(_line(row))
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def _notes(path: Path) -> Iterator[dict[str, Any]]:
    """What is noted of a batch: runs of goals, and the files of those that are not done."""
    return _rows(runs_path(path), [_RUN, {"errors"}])


def _rows(path: Path, kinds: Sequence[Set[str]] = (_RESULT,)) -> Iterator[dict[str, Any]]:
    """The whole lines of a file; what follows the last of them is cut off."""
    if not path.exists():
        return
    whole, ended = 0, True
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                if _is_half(line):
                    break
                raise InputError(
                    f"{path}, line {number} is no JSON: {error}",
                    hint="this is no results file of weft; nothing was touched",
                ) from error
            if not isinstance(row, dict) or not any(keys <= row.keys() for keys in kinds):
                raise InputError(f"{path}, line {number} is no result of weft", hint="name the right file with -o")
            whole += len(line)
            yield row
            ended = line.endswith(b"\n")
    if whole < path.stat().st_size:
        os.truncate(path, whole)
    if not ended:
        with path.open("ab") as file:
            file.write(b"\n")


def _is_half(line: bytes) -> bool:
    """Whether it can be what a kill left of a row, or a power cut: anything else is somebody's text, and is kept."""
    return not line.endswith(b"\n") and line.lstrip(b"\0")[:1] in (b"{", b"")


def _opened(path: Path, mode: str = "a") -> IO[str]:
    # What no file takes as it is, half a character, stays an escape, which in JSON means the same.
    return path.open(mode, encoding="utf-8", errors="backslashreplace")


def _append(file: IO[str], row: dict[str, Any]) -> None:
    try:
        file.write(_line(row))
        file.flush()
    except OSError as error:
        raise WeftError(
            f"{file.name} could not be written: {error.strerror}",
            hint="make room, then run the same command with --resume: nothing that was finished is lost",
        ) from error


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
