"""Which runs a list has, as every store asks for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping  # noqa: TC003 - fields of a type
from typing import Any, NamedTuple, TypedDict

from goalwright_executor.stores.columns import TAKEN_BACK


class RunFilter(TypedDict, total=False):
    """Which runs a list has: those older than `before`, of some statuses, of one batch or conversation, and so on.

    `taken_back` asks for turns that were taken back, or only for others; `in_batch` for goals of batches, likewise.
    `text` are words that are looked for. `since` and `until` bound when a run started; the first is included.
    """

    before: str
    status: Collection[str]
    text: str
    batch: str | None
    in_batch: bool
    conversation: str | None
    taken_back: bool
    skill: str
    model: str
    tag: str
    code: str
    since: str
    until: str
    min_cost: float
    max_cost: float
    min_seconds: float
    max_seconds: float


class Condition(NamedTuple):
    """A condition of SQL, with `?` for its value."""

    sql: str
    value: Callable[[Any], Any] = lambda value: value


# What the columns of a run are compared with. A model is named with its provider or without.
_CONDITIONS: Mapping[str, Condition] = {
    "before": Condition("run_id < ?"),
    "batch": Condition("batch = ?"),
    "in_batch": Condition("(batch IS NOT NULL) = ?"),
    "conversation": Condition("conversation = ?"),
    "taken_back": Condition(f"(r.id IN ({TAKEN_BACK})) = ?"),
    "skill": Condition("' ' || skills || ' ' LIKE ? ESCAPE '\\'", lambda name: f"% {literal(name)} %"),
    "model": Condition("'/' || model LIKE ? ESCAPE '\\'", lambda name: f"%/{literal(name)}"),
    "code": Condition("code = ?"),
    "since": Condition("started >= ?"),
    "until": Condition("started < ?"),
    "min_cost": Condition("cost_usd >= ?"),
    "max_cost": Condition("cost_usd <= ?"),
    "min_seconds": Condition("seconds >= ?"),
    "max_seconds": Condition("seconds <= ?"),
}


def conditions(wanted: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """The conditions of a filter that all stores have alike, and their values: all but status, text and tag."""
    chosen = {name: wanted[name] for name in _CONDITIONS if wanted.get(name) not in (None, "")}
    return [_CONDITIONS[name].sql for name in chosen], [_CONDITIONS[name].value(chosen[name]) for name in chosen]


def literal(text: str) -> str:
    """A text in which LIKE sees no wildcards."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
