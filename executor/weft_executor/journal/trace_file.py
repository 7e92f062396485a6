"""Trace files: one event per line, written by `trace export` and read by `trace import` and `replay`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from weft_executor.capture.json_text import decode, encode
from weft_executor.stores.row import VERSION, Row
from weft_planner import events
from weft_planner.plan.graph_faults import graph_faults
from weft_planner.plan.plan import Plan
from weft_skills.errors import InputError
from weft_skills.tools.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_AGAIN = "export the run again with weft trace export"


class _Place(msgspec.Struct):
    """What every line has besides the fields of its event."""

    v: int
    # A run's id becomes a folder name: it must not lead out of the folder of runs.
    run_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}\Z")]
    seq: Annotated[int, Meta(ge=1)]
    at: Annotated[datetime, Meta(tz=True)]
    type: str


_POSITION = frozenset(_Place.__struct_fields__)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The rows as JSON lines."""
    for row in rows:
        yield encode(row.to_dict())


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
        document: Any = decode(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}", hint=_AGAIN) from error
    if not isinstance(document, dict) or not _POSITION.issubset(document):
        needed = ", ".join(_Place.__struct_fields__)
        raise InputError(f"{where} is not an event: it needs {needed}", hint="is this a weft trace?")
    _check_version(document["v"], where)
    try:
        place = msgspec.convert(document, _Place)
        body = {key: value for key, value in document.items() if key not in _POSITION or key == "run_id"}
        if place.type not in ("run_started", "run_resumed"):
            del body["run_id"]
        wrong = "; ".join(_faults(events.decode(place.type, body)))
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"{where}: {error}", hint=_AGAIN) from error
    if wrong:
        raise InputError(f"{where}: an event of type {place.type!r} is malformed: {wrong}", hint=_AGAIN)
    return Row(place.run_id, place.seq, document["at"], place.type, body)


def _check_version(version: Any, where: str) -> None:
    if type(version) is not int or version == VERSION:
        return
    if version > VERSION:
        what = f"{where} was written by a newer weft (events of version {version}; this one reads {VERSION})"
        raise InputError(what, hint="update weft")
    what = f"{where} was exported before weft 0.1.0, which cannot read it (events of version {version})"
    raise InputError(what, hint="name another file, or run the goal again")


def _faults(event: events.Event | None) -> Iterator[str]:
    """What is wrong with an event whose values have their types; anyone may have edited a file."""
    match event:
        case events.PlanMade(plan=plan) | events.RunStarted(plan=Plan() as plan):
            yield from graph_faults(plan)
        case events.ToolCalled(envelope=document):
            try:
                Envelope.from_dict(document)
            except msgspec.ValidationError as error:
                yield f"'envelope': {error}"
        case _:
            pass


def _check_order(row: Row, last_seq: dict[str, int], where: str) -> None:
    """Raise if an event is repeated or out of order: a run is the sequence of its events."""
    before = last_seq.get(row.run_id, 0)
    if row.seq <= before:
        raise InputError(
            f"{where}: event {row.seq} of run {row.run_id} comes after its event {before}",
            hint="events must be unique and ordered by seq: export the run again with weft trace export",
        )
    last_seq[row.run_id] = row.seq
