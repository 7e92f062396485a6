"""A run's summary and a row's body as columns that every store has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weft_executor.capture.capture import ATOMS
from weft_executor.capture.json_text import encode as encode_json
from weft_executor.stores import texts
from weft_executor.stores.texts import LARGE

if TYPE_CHECKING:
    from weft_executor.stores.row import Row, RunSummary

# The columns of a summary, in the order of its fields.
SUMMARY = "run_id, goal, status, started, seconds, tasks, cost_usd, parent, done, skills, batch, batch_goal"
_NAMES = SUMMARY.split(", ")

# A body as JSON, and the large texts taken out of it, by hash.
Body = tuple[str, Mapping[str, str]]
_NONE: Mapping[str, str] = {}


def summary_values(summary: RunSummary) -> list[object]:
    """A summary's values in the order of `SUMMARY`."""
    values = [clean(getattr(summary, name)) for name in _NAMES]
    return [" ".join(value) if isinstance(value, tuple) else value for value in values]


def encode(row: Row) -> Body:
    """A row's body as JSON, and the large texts taken out of it, by hash."""
    for value in row.body.values():
        kind = type(value)
        if len(value) >= LARGE if kind is str else kind not in ATOMS:
            large: dict[str, str] = {}
            return encode_json(texts.split(row.body, large)), large
    return encode_json(row.body), _NONE


def missing(sha: str) -> str:
    """What stands for a large text that is not stored."""
    return f"(the text {sha} is missing from the journal)"


def clean(value: Any) -> Any:
    """A value that a database accepts: a model's broken output may hold lone surrogates."""
    if type(value) is not str or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value
