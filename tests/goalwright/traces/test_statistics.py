"""The runs of a journal in figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from goalwright.traces.run_search import moment, run_filter
from goalwright.traces.statistics import statistics
from goalwright_executor.stores.row import RunIndex, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def test_days_causes_skills_models_and_tags_are_counted(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "journal.sqlite")
    base = RunSummary("a", "g", "done", "2026-03-10T01:00:00.000000Z", 10.0, 1, 0.5, skills=("one", "two"))
    base = replace(base, model="m", tokens=100, tags=("t u", "v"))
    runs = [
        base,
        replace(base, run_id="b", seconds=30.0, started="2026-03-09T01:00:00.000000Z"),
        replace(base, run_id="c", status="failed", code="BUDGET_SPENT", cost_usd=None, tags=()),
        replace(base, run_id="d", started="2026-03-01T01:00:00.000000Z"),
    ]
    store.append([], {run.run_id: run for run in runs})
    with store._database.indexing() as connection:  # runs without events are not indexed by reading them
        connection.execute("UPDATE runs SET skills_used = 'one', indexed = 1 WHERE run_id IN ('a', 'b')")
    found = statistics(store, 7, NOW)
    store.close()
    assert [one["day"] for one in found["days"]] == [f"2026-03-{day:02}" for day in range(4, 11)]
    assert found["total"] == {
        "runs": 3, "statuses": {"done": 2, "failed": 1}, "failures": 1, "cost_usd": 1.0, "unpriced": 1, "tokens": 300,
        "median_seconds": 30.0, "p95_seconds": 30.0,
    }  # fmt: skip
    assert [one["runs"] for one in found["days"][-2:]] == [1, 2]
    assert found["failures"] == [{"status": "failed", "code": "BUDGET_SPENT", "runs": 1}]
    assert found["skills"] == [
        {"name": "one", "selected": 2, "used": 2, "ignored": 0},
        {"name": "two", "selected": 2, "used": 0, "ignored": 2},
    ]
    assert found["models"] == [{"model": "m", "runs": 3, "cost_usd": 1.0, "unpriced": 1, "tokens": 300}]
    assert [(one["tag"], one["runs"], one["unpriced"]) for one in found["tags"]] == [("t u", 2, 0), ("v", 2, 0)]
    assert RunIndex("a", 1, "").skills_used == ()


def test_missing_journal_has_empty_statistics() -> None:
    found = statistics(None, 3, NOW)
    assert (found["total"]["runs"], len(found["days"]), found["skills"]) == (0, 3, [])


def test_times_are_dates_times_or_ages() -> None:
    assert moment("since", "2026-11-01") == "2026-11-01T00:00:00.000000Z"
    assert moment("since", "2026-11-01T12:00+02:00") == "2026-11-01T10:00:00.000000Z"
    assert moment("since", "7d") < moment("since", "12h")
    assert moment("since", "99999w").startswith("0110-")


@pytest.mark.parametrize("given", [{"since": "soon"}, {"max_cost": "x"}, {"status": "odd"}, {"colour": "red"}])
def test_invalid_filter_is_refused_with_an_example(given: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        run_filter(given)
    assert caught.value.hint
