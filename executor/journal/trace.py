"""Traces in files: one event a line, as `trace export` writes and `trace import` and `replay` read them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from executor.journal.row import VERSION, Row
from skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_PLACE = ("v", "run_id", "seq", "at", "type")


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The rows as lines of JSON."""
    for row in rows:
        yield json.dumps(row.to_dict(), ensure_ascii=False, separators=(",", ":"))


def read(path: Path, types: Collection[str] = ()) -> Iterator[Row]:
    """The rows in a file, or those of some types; a line that is none is said with its number."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                # Most lines are of other types: a look at the text is much quicker than reading them all as JSON.
                if line.strip() and (not types or any(f'"{kind}"' in line for kind in types)):
                    row = parse(line, f"{path}, line {number}")
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
        document: Any = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where} is no JSON: {error}", hint="export the run again with weft trace export") from error
    if not isinstance(document, dict) or any(key not in document for key in _PLACE):
        raise InputError(f"{where} is no event: it needs {', '.join(_PLACE)}", hint="is this a trace of weft?")
    if not isinstance(document["v"], int) or document["v"] > VERSION:
        raise InputError(
            f"{where} was written by a newer weft (events of version {document['v']}; this one knows {VERSION})",
            hint="update weft",
        )
    body = {key: value for key, value in document.items() if key not in _PLACE or key == "run_id"}
    kind = document["type"]
    if kind not in ("run_started", "run_resumed"):
        body.pop("run_id", None)
    return Row(document["run_id"], document["seq"], document["at"], kind, body)
