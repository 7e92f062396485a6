"""Reads and writes exported traces, with one event per line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from goalwright_executor.capture.json_text import decode, encode
from goalwright_executor.stores.row import VERSION, Row
from goalwright_planner import events
from goalwright_planner.model import Reply
from goalwright_planner.plan.plan import Plan, graph_faults
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted, plural
from goalwright_skills.tools.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_AGAIN = "export the run again with goalwright trace export"
# Limits for a call; the sum of many calls fits into a journal's columns.
_MOST_TOKENS = 10**12
_MOST_DOLLARS = 10**9


class _Envelope(msgspec.Struct):
    """The fields of every line besides those of its event."""

    v: int
    # A run's id becomes a folder name, so it must not lead out of the folder of runs.
    run_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}\Z")]
    seq: Annotated[int, Meta(ge=1)]
    at: Annotated[datetime, Meta(tz=True)]
    type: str


_POSITION = frozenset(_Envelope.__struct_fields__)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Encode rows as JSON lines."""
    for row in rows:
        yield encode(row.to_dict())


class TraceFile(NamedTuple):
    """A file that the user did not name, with its name for error messages."""

    path: Path
    name: str


def read(file: Path | TraceFile, types: Collection[str] = ()) -> Iterator[Row]:
    """Read the rows of a file, or only those of some types; an error names the line.

    The events of every run must be complete up to its last one. If only some types are read, a gap is noticed at the
    next row of these types.
    """
    path, name = file if isinstance(file, TraceFile) else (file, str(file))
    order, nth = _Order(exact=not types), 0
    try:
        with path.open(encoding="utf-8-sig") as lines_of_file:
            for number, line in enumerate(lines_of_file, start=1):
                if not line.strip():
                    continue
                nth += 1
                # Most lines are of other types; searching the text is much faster than parsing it.
                if not types or any(f'"{kind}"' in line for kind in types):
                    row = parse(line, f"{name}, line {number}")
                    order.check(row, nth, f"{name}, line {number}")
                    if not types or row.type in types:
                        yield row
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text", hint="export it again") from error


def parse(line: str, where: str) -> Row:
    """Parse a line; errors call it by `where`."""
    try:
        document: Any = decode(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}", hint=_AGAIN) from error
    if not isinstance(document, dict) or not _POSITION.issubset(document):
        needed = ", ".join(_Envelope.__struct_fields__)
        raise InputError(f"{where} is not an event: it needs {needed}", hint="is this a goalwright trace?")
    _check_version(document["v"], where)
    try:
        envelope = msgspec.convert(document, _Envelope)
        body = {key: value for key, value in document.items() if key not in _POSITION or key == "run_id"}
        if envelope.type not in ("run_started", "run_resumed"):
            del body["run_id"]
        faults = "; ".join(_faults(events.decode(envelope.type, body)))
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"{where}: {error}", hint=_AGAIN) from error
    if faults:
        raise InputError(f"{where}: an event of type {envelope.type!r} is malformed: {faults}", hint=_AGAIN)
    return Row(envelope.run_id, envelope.seq, _time(envelope.at, where), envelope.type, body)


def _time(at: datetime, where: str) -> str:
    """Format a time as records do: runs are listed, filtered and pruned by it."""
    try:
        return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except OverflowError as error:
        raise InputError(f"{where}: the time {at} is out of range", hint=_AGAIN) from error


def _check_version(version: Any, where: str) -> None:
    if type(version) is not int or version == VERSION:
        return
    author = "a newer" if version > VERSION else "another"
    raise InputError(
        f"{where} was written by {author} goalwright (events of version {version}; this one reads {VERSION})",
        hint="update goalwright",
    )


def _faults(event: events.Event | None) -> Iterator[str]:
    """The faults of an event whose fields have the right types; the file may have been edited."""
    match event:
        case events.PlanMade(plan=plan) | events.RunStarted(plan=Plan() as plan):
            yield from graph_faults(plan)
        case events.ToolCalled(envelope=document):
            try:
                Envelope.from_dict(document)
            except msgspec.ValidationError as error:
                yield f"'envelope': {error}"
        case events.CallFinished(reply=Reply(usage=usage, cost=cost)) | events.CallBroken(usage=usage, cost=cost):
            if not all(0 <= count <= _MOST_TOKENS for count in msgspec.structs.astuple(usage)):
                yield f"'usage': a count is not between 0 and {_MOST_TOKENS:,}"
            if (
                cost is not None and not 0 <= cost <= _MOST_DOLLARS
            ):  # a negative cost would raise the budget of a resumed run
                yield f"'cost' is not between 0 and {_MOST_DOLLARS:,}"
        case _:
            pass


class _Order:
    """Checks that each run's events are on consecutive lines and numbered from 1.

    The number of a line, without blank lines, minus the number of its event is therefore the same for all rows of a
    run, also if only some rows are checked; `exact` if all are.
    """

    def __init__(self, *, exact: bool) -> None:
        self._exact = exact
        self._last: dict[
            str, tuple[int, int]
        ] = {}  # by run: the number of its last event, and the lines before the run
        self._lines = 0

    def check(self, row: Row, nth: int, where: str) -> None:
        """Raise if an event before this row is missing, duplicated or out of order."""
        least = nth - 1 if self._exact else self._lines
        seq, before = self._last.get(row.run_id, (0, max(nth - row.seq, least)))
        if row.seq <= seq:
            raise InputError(
                f"{where}: event {row.seq} of run {row.run_id} comes after its event {seq}",
                hint=f"events must be unique and ordered by seq: {_AGAIN}",
            )
        if nth - row.seq < before:
            missing = row.seq - (nth - before)
            gap = f"{counted(missing, 'event')} before its event {row.seq} {plural(missing, 'is', 'are')} missing"
            raise InputError(f"{where}: run {row.run_id} is incomplete: {gap}", hint=_AGAIN)
        if nth - row.seq > before:
            raise InputError(
                f"{where}: run {row.run_id} appears twice, or its events are not consecutive",
                hint="a run must appear once, its events ordered by seq",
            )
        self._last[row.run_id] = (row.seq, before)
        self._lines = nth
