"""Summaries and rows as the columns that all stores have in common."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_executor.capture.json_text import encode as encode_json
from goalwright_executor.stores import texts
from goalwright_executor.stores.row import EncodedRows

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_executor.stores.row import Row, RunSummary

# The columns of a summary, in the order of its fields.
SUMMARY = (
    "run_id, goal, status, started, seconds, tasks, cost_usd, parent, done, skills, batch, batch_goal, conversation, "
    "model, tokens, code, tags, note"
)
_NAMES = SUMMARY.split(", ")
# The separators of columns with several parts; a tag may contain spaces.
SEPARATORS = {"skills": " ", "tags": "\n"}
# The columns that change while a run is written.
CHANGING = (
    "goal",
    "status",
    "seconds",
    "tasks",
    "cost_usd",
    "done",
    "skills",
    "model",
    "tokens",
    "code",
    "tags",
    "note",
)
# The conditions of partial indexes; a query must contain one of them verbatim to use its index.
SELECTIONS = "type IN ('run_started', 'skills_selected')"
APPROVALS = "type IN ('approval_asked', 'approval_given')"
TAKEN_BACK = "SELECT run FROM events WHERE type = 'turn_taken_back'"


def summary_values(summary: RunSummary) -> list[object]:
    """A summary's values in the order of `SUMMARY`."""
    return [
        clean(SEPARATORS[name].join(getattr(summary, name)) if name in SEPARATORS else getattr(summary, name))
        for name in _NAMES
    ]


def encoded(rows: Sequence[Row] | EncodedRows) -> EncodedRows:
    """Encode rows, unless they are encoded already."""
    if isinstance(rows, EncodedRows):
        return rows
    encoded_rows = EncodedRows()
    for run_id, seq, at, kind, body in rows:
        large: dict[str, str] = {}
        text = encode_json(texts.split(body, large))
        key = body.get("key") if kind == "task_finished" else None
        values = (run_id, seq, at, kind, clean(body.get("task")), clean(key) or None, text)
        for column, value in zip(encoded_rows.columns, values, strict=True):
            column.append(value)
        if large:
            encoded_rows.texts.setdefault(run_id, {}).update(large)
    return encoded_rows


def index_condition(types: Collection[str]) -> str:
    """Return the condition of the partial index that has events of these types, to begin a query with; or nothing."""
    fitting = (index for index in (SELECTIONS, APPROVALS) if all(f"'{name}'" in index for name in types))
    return "".join(f"e.{index} AND " for index in islice(fitting, 1))


def missing(sha: str) -> str:
    """Return the replacement for a large text that is not stored."""
    return f"(the text {sha} is missing from the journal)"


def clean(value: Any) -> Any:
    """Replace lone surrogates, which databases do not accept and models may produce."""
    if type(value) is not str or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value
