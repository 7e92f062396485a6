"""Traces in files: one event a line, as `trace export` writes and `trace import` and `replay` read them."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from executor.journal import event_check
from executor.stores.row import VERSION, Row
from skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_PLACE = ("v", "run_id", "seq", "at", "type")
# A run's id names its folder: it must not lead out of where those are.
_RUN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}")


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The rows as lines of JSON."""
    for row in rows:
        yield json.dumps(row.to_dict(), ensure_ascii=False, separators=(",", ":"))


def read(path: Path, types: Collection[str] = ()) -> Iterator[Row]:
    """The rows in a file, or those of some types; a line that is none is said with its number."""
    reached: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                # Most lines are of other types: a look at the text is much quicker than reading them all as JSON.
                if line.strip() and (not types or any(f'"{kind}"' in line for kind in types)):
                    row = parse(line, f"{path}, line {number}")
                    _in_order(row, reached, f"{path}, line {number}")
                    if not types or row.type in types:
                        yield row
    except OSError as error:
        raise InputError(
            f"the trace {path} cannot be read: {error.strerror or error}", hint="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"the trace {path} is no UTF-8 text", hint="export it again") from error


def parse(line: str, where: str) -> Row:
    """The row in a line."""
    try:
        document: Any = json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is no JSON: {error}", hint="export the run again with weft trace export") from error
    if not isinstance(document, dict) or any(key not in document for key in _PLACE):
        raise InputError(f"{where} is no event: it needs {', '.join(_PLACE)}", hint="is this a trace of weft?")
    version, kind = document["v"], document["type"]
    if isinstance(version, int) and version > VERSION:
        raise InputError(
            f"{where} was written by a newer weft (events of version {version}; this one knows {VERSION})",
            hint="update weft",
        )
    body = {key: value for key, value in document.items() if key not in _PLACE or key == "run_id"}
    if kind not in ("run_started", "run_resumed"):
        body.pop("run_id", None)
    wrong = _misplaced(document) or event_check.faults(kind, body)
    if wrong:
        what = f"{where}: an event of type {kind!r} is malformed: {'; '.join(wrong)}"
        raise InputError(what, hint="export the run again with weft trace export")
    return Row(document["run_id"], document["seq"], document["at"], kind, body)


def _misplaced(document: dict[str, Any]) -> list[str]:
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


def _in_order(row: Row, reached: dict[str, int], where: str) -> None:
    """Refuse what stands twice, or in another place than it had: a run is the order of its events."""
    before = reached.get(row.run_id, 0)
    if row.seq <= before:
        raise InputError(
            f"{where}: event {row.seq} of run {row.run_id} stands behind its event {before}",
            hint="each event stands once, ordered by seq: export the run again with weft trace export",
        )
    reached[row.run_id] = row.seq


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
