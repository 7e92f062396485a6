"""Trace files: one event per line, written by `trace export` and read by `trace import` and `replay`."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from weft_executor.journal import event_check
from weft_executor.stores.row import VERSION, Row
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_POSITION = ("v", "run_id", "seq", "at", "type")
# A run's id becomes a folder name: it must not lead out of the folder of runs.
_RUN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}")


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The rows as JSON lines."""
    for row in rows:
        yield json.dumps(row.to_dict(), ensure_ascii=False, separators=(",", ":"))


def read(path: Path, types: Collection[str] = ()) -> Iterator[Row]:
    """The rows in a file, or those of some types; an error names the line."""
    last_seq: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                # Most lines are of other types: searching the text is much faster than parsing them all.
                if line.strip() and (not types or any(f'"{kind}"' in line for kind in types)):
                    row = parse(line, f"{path}, line {number}")
                    _check_order(row, last_seq, f"{path}, line {number}")
                    if not types or row.type in types:
                        yield row
    except OSError as error:
        raise InputError(
            f"the trace {path} cannot be read: {error.strerror or error}", hint="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"the trace {path} is not UTF-8 text", hint="export it again") from error


def parse(line: str, where: str) -> Row:
    """The row in a line."""
    try:
        document: Any = json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}", hint="export the run again with weft trace export") from error
    if not isinstance(document, dict) or any(key not in document for key in _POSITION):
        raise InputError(f"{where} is not an event: it needs {', '.join(_POSITION)}", hint="is this a weft trace?")
    version, kind = document["v"], document["type"]
    if isinstance(version, int) and version > VERSION:
        raise InputError(
            f"{where} was written by a newer weft (events of version {version}; this one reads {VERSION})",
            hint="update weft",
        )
    body = {key: value for key, value in document.items() if key not in _POSITION or key == "run_id"}
    if kind not in ("run_started", "run_resumed"):
        body.pop("run_id", None)
    wrong = _position_faults(document) or event_check.faults(kind, body)
    if wrong:
        what = f"{where}: an event of type {kind!r} is malformed: {'; '.join(wrong)}"
        raise InputError(what, hint="export the run again with weft trace export")
    return Row(document["run_id"], document["seq"], document["at"], kind, body)


def _position_faults(document: dict[str, Any]) -> list[str]:
    """What is wrong with the fields that every event has."""
    fits = {
        "v": type(document["v"]) is int and document["v"] > 0,
        "run_id": isinstance(document["run_id"], str) and _RUN_ID.fullmatch(document["run_id"]),
        "seq": type(document["seq"]) is int and document["seq"] > 0,
        "at": isinstance(document["at"], str) and _is_time(document["at"]),
        "type": isinstance(document["type"], str),
    }
    return [f"{name!r} is {str(document[name])[:60]!r}" for name, fit in fits.items() if not fit]


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _check_order(row: Row, last_seq: dict[str, int], where: str) -> None:
    """Raise if an event is repeated or out of order: a run is the sequence of its events."""
    before = last_seq.get(row.run_id, 0)
    if row.seq <= before:
        raise InputError(
            f"{where}: event {row.seq} of run {row.run_id} comes after its event {before}",
            hint="events must be unique and ordered by seq: export the run again with weft trace export",
        )
    last_seq[row.run_id] = row.seq


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
