"""Runs and rows as JSON: the fields that `--json` prints, and more that the page needs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goalwright.traces.timeline import TYPES, timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from goalwright_executor.stores.row import Row, RunSummary

# Streams cut longer texts; the route of a task has them whole.
LONG = 2_000
# A person decides about these events and must see them whole.
_WHOLE = frozenset({"approval_asked"})
# Lists in events of which a page shows only some entries.
_MANY = {"skills": 100, "messages": 0}
_SETTINGS = ("model", "max_cost", "max_tokens", "timeout", "max_concurrency", "detector")


def summary(run: RunSummary) -> dict[str, Any]:
    """Return a run as a row of a list."""
    more = {
        "parent": run.parent,
        "done": run.done,
        "skills": list(run.skills),
        "batch": run.batch,
        "batch_goal": run.batch_goal,
        "conversation": run.conversation,
        "tokens": run.tokens,
        "model": run.model,
        "code": run.code,
        "tags": list(run.tags),
        "note": run.note,
    }
    return run.to_dict() | more


def short_row(row: Row) -> dict[str, Any]:
    """Return a row with long texts cut; `cut` is set if there were any."""
    if row.type in _WHOLE:
        return row.to_dict()
    body, was_cut = _short(row.body, "")
    shown = row._replace(body=body).to_dict()
    return shown | {"cut": True} if was_cut else shown


def _short(value: Any, name: str) -> tuple[Any, bool]:
    match value:
        case str() if len(value) > LONG:
            return value[:LONG], True
        case dict():
            pairs = {key: _short(item, key) for key, item in value.items()}
            return {key: item for key, (item, _) in pairs.items()}, any(was_cut for _, was_cut in pairs.values())
        case list() if name in _MANY and _length(value) > LONG:
            return value[: _MANY[name]], True
        case list():
            items = [_short(item, "") for item in value]
            return [item for item, _ in items], any(was_cut for _, was_cut in items)
        case _:
            return value, False


def _length(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case dict():
            return sum(map(_length, value.values()))
        case list():
            return sum(map(_length, value))
        case _:
            return 1


def run(rows: Iterable[Row], *, alive: bool, held_by: str | None) -> dict[str, Any]:
    """Return a run's timeline without outputs, its inputs, and the sequence number of its last event.

    A page applies the events after that number. Both are read at once, so that no event is missed.
    """
    extras = _Extras()
    shown = timeline(extras.note(rows), alive=alive)
    return shown.to_dict(outputs=False) | {
        "code": shown.result.code,
        "last_seq": extras.last_seq,
        "last_at": extras.last_at,
        "now": datetime.now(UTC).isoformat(),
        "held_by": held_by,
        "settings": {name: extras.settings.get(name) for name in _SETTINGS},
        "given": extras.given,
    }


class _Extras:
    """Values that the timeline does not keep, noted as its rows pass."""

    def __init__(self) -> None:
        self.last_seq = 0
        self.last_at = ""
        self.settings: Mapping[str, Any] = {}
        self.given: dict[str, Any] = {}

    def note(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self.last_seq, self.last_at = row.seq, row.at
            if row.type in ("run_started", "run_resumed"):
                self.settings = row.body.get("settings") or {}
            if row.type == "run_started":
                names = ("asked_skills", "files", "answers", "batch", "batch_goal", "batch_size", "versions", "recipe")
                self.given = {name: row.body.get(name) for name in names}
                turn = row.body.get("conversation") or {}  # without the earlier turns that it saw, which are long
                self.given |= {"conversation": turn.get("id"), "turn": turn.get("number")}
            if row.type in TYPES:
                yield row
