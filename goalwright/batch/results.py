"""The results file: one line for each goal when it ends, each id once; and the state that resuming a batch needs.

While a batch is unfinished, `<file>.runs` beside it maps goals to runs, so that interrupted goals resume from the
journal, and lists the errors files in use. The batch that writes results holds a lock on it. It is removed once the
batch is complete and no errors file has a goal left.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from goalwright.batch.options import OptionNeeded
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.file_lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """The state of a goal after earlier runs of the batch: its content, its run, and its status if it ended.

    A goal that `waited` for a person may have been answered and have ended since, outside the batch.
    """

    content_hash: str
    run_id: str
    status: str | None = None
    waited: bool = False


# The format version of a line, its "v".
FORM = 2
_RESULT = {"id", "run_id", "status"}
# The two kinds of lines in `.runs`: runs of goals, and errors files.
_RUNS = {"id", "run_id", "content_hash"}, {"errors"}


class Results:
    """An open results file."""

    def __init__(self, path: Path, errors: Path | None = None) -> None:
        self._path = path
        self._file = _opened(path)
        self._errors = _opened(errors) if errors else None
        self._runs = _opened(runs_path(path))
        if errors is not None:  # before any line is written to it, so that a resumed batch finds it
            _append(self._runs, {"errors": _relative(path, errors)})

    def began(self, goal_id: str, content_hash: str, run_id: str) -> None:
        """Record a goal's run before it spends anything."""
        _append(self._runs, {"id": goal_id, "content_hash": content_hash, "run_id": run_id})

    def ended(self, row: dict[str, Any]) -> None:
        """Append a goal's line, flushed before this returns."""
        failed = self._errors is not None and row["status"] != "done"
        _append(self._errors if failed and self._errors else self._file, row)

    def close(self, *, complete: bool) -> None:
        """Close the files; remove `.runs` if the batch is complete and nothing is left to retry."""
        for file in filter(None, (self._file, self._errors, self._runs)):
            with suppress(OSError):  # the failed write was reported already
                file.close()
        if complete and not any(file.stat().st_size for file in errors_files(self._path)):
            runs_path(self._path).unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other batches from writing the same results within the block."""
    if sys.platform == "win32":  # a lock on Windows would also keep this process from writing the file
        yield
        return
    runs = runs_path(path)
    while True:
        with _opened(runs) as file:
            if not try_lock(file.fileno()):
                raise InputError(
                    f"another batch is writing {path}; nothing was changed",
                    hint="wait until it ends, or name another results file",
                )
            if not _is_same_file(runs, file):
                continue  # another batch ended and removed it after we opened it
            try:
                yield
            finally:
                with suppress(FileNotFoundError):
                    if not runs.stat().st_size:
                        runs.unlink()
            return


def _is_same_file(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def runs_path(path: Path) -> Path:
    """Return the path of the file that records the runs of an unfinished batch."""
    return path.with_name(path.name + ".runs")


def errors_files(path: Path, *, untouched: bool = False) -> list[Path]:
    """Return the existing errors files of earlier runs of the batch, the latest last."""
    rows = _rows(runs_path(path), _RUNS, untouched=untouched)
    recorded = [path.parent / row["errors"] for row in rows if "errors" in row]
    return [file for file in reversed(dict.fromkeys(reversed(recorded))) if file.exists()]


def _relative(path: Path, errors: Path) -> str:
    """Return a path relative to the results if possible, so that the folder can be moved as a whole."""
    here, there = path.absolute().parent, errors.absolute()
    return str(there.relative_to(here) if there.is_relative_to(here) else there)


def forget_runs(path: Path) -> None:
    """Empty the `.runs` file of a batch whose results were deleted; the locked file itself stays."""
    if runs_path(path).exists():
        os.truncate(runs_path(path), 0)


def refuse_existing(*paths: Path | None) -> None:
    """Raise if a file exists already, or its folder does not."""
    for path in paths:
        if path is None:
            continue
        if path.exists():
            raise OptionNeeded(
                f"{path} exists already; nothing was changed",
                option="resume",
                hint="resume the batch, name another results file, or move this one away",
            )
        if not path.absolute().parent.is_dir():
            raise InputError(f"no folder for {path}", hint="create it, or name another results file")


def read_earlier(path: Path, *errors: Path, untouched: bool = False) -> dict[str, EarlierResult]:
    """Read the results of earlier runs of the batch.

    An incomplete last line and duplicate lines are dropped from the files, unless these must stay `untouched`.
    """
    rows = _rows(runs_path(path), _RUNS, untouched=untouched)
    runs = {row["id"]: EarlierResult(row["content_hash"], row["run_id"]) for row in rows if "errors" not in row}
    ended: dict[str, EarlierResult] = {}
    for file in (path, *errors):
        ended |= _ended(file, ended, untouched=untouched)
    return runs | ended


def _ended(path: Path, elsewhere: Mapping[str, EarlierResult], *, untouched: bool) -> dict[str, EarlierResult]:
    """Return the goals with a line in this file and none elsewhere; the last of duplicate lines is kept."""
    results: dict[str, EarlierResult] = {}
    last: dict[str, int] = {}
    lines = 0
    for number, row in enumerate(_rows(path, untouched=untouched)):
        lines += 1
        if row["id"] not in elsewhere:
            last[row["id"]] = number
            results[row["id"]] = EarlierResult(row.get("content_hash", ""), row["run_id"], row["status"])
    if len(last) < lines and not untouched:
        _rewrite(path, (row for number, row in enumerate(_rows(path)) if last.get(row["id"]) == number))
    return results


def read(*paths: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of results files."""
    for path in paths:
        yield from _rows(path)


def record_runs(path: Path, goals: Mapping[str, EarlierResult]) -> None:
    """Record the runs of goals whose lines are about to be dropped."""
    with _opened(runs_path(path)) as file:
        for goal_id, earlier in goals.items():
            if earlier.run_id:
                _append(file, {"id": goal_id, "content_hash": earlier.content_hash, "run_id": earlier.run_id})
        os.fsync(file.fileno())


def drop(path: Path, ids: Iterable[str]) -> None:
    """Rewrite a results file without these goals' lines, atomically."""
    dropped = set(ids)
    if dropped and path.exists():
        _rewrite(path, (row for row in _rows(path) if row["id"] not in dropped))


def _rewrite(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    scratch = path.with_name(path.name + ".new")
    with _opened(scratch, "w") as file:
        for row in rows:
            file.write(_line(row))
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def _rows(path: Path, kinds: Sequence[Set[str]] = (_RESULT,), *, untouched: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file; an incomplete last line is cut off, unless the file must stay `untouched`."""
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
                    f"{path}, line {number} is not valid JSON: {error}",
                    hint="this is not a results file of goalwright; nothing was changed",
                ) from error
            if not isinstance(row, dict) or not any(keys <= row.keys() for keys in kinds):
                raise InputError(
                    f"{path}, line {number} is not a result of goalwright", hint="name a results file of goalwright"
                )
            _check_form(row, f"{path}, line {number}")
            whole += len(line)
            yield row
            ended = line.endswith(b"\n")
    if untouched:
        return
    if whole < path.stat().st_size:
        os.truncate(path, whole)
    if not ended:
        with path.open("ab") as file:
            file.write(b"\n")


def _check_form(row: dict[str, Any], where: str) -> None:
    """Raise if a line has another format version."""
    form = row.get("v")
    if form != FORM:
        raise InputError(
            f"{where} has format {form}, but this goalwright reads format {FORM}; nothing was changed",
            hint="update goalwright, or name another results file",
        )


def _is_half(line: bytes) -> bool:
    """Whether a line may be a row that a kill or a power cut left incomplete."""
    return not line.endswith(b"\n") and line.lstrip(b"\0")[:1] in (b"{", b"")


def _opened(path: Path, mode: str = "a") -> IO[str]:
    # A lone surrogate cannot be encoded: it is written as an escape, which JSON reads back unchanged.
    return path.open(mode, encoding="utf-8", errors="backslashreplace")


def _append(file: IO[str], row: dict[str, Any]) -> None:
    try:
        file.write(_line(row))
        file.flush()
    except OSError as error:
        raise GoalwrightError(
            f"{file.name} could not be written: {error.strerror}",
            hint="free some space, then resume the batch; finished goals are kept",
        ) from error


def _line(row: dict[str, Any]) -> str:
    return json.dumps({"v": FORM} | row, ensure_ascii=False) + "\n"
