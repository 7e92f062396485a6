"""Search, filters and counts of runs in every store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_executor.history import indexer as indexer_module
from goalwright_executor.history.indexer import Indexer, catch_up
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunIndex
from tests.executor.stores.runs import line, row

if TYPE_CHECKING:
    from goalwright_executor.stores.store import Store
    from tests.executor.stores.runs import Place


def add(store: Store, run_id: str, goal: str, answer: str = "", **more: Any) -> None:
    """Add an ended run, as its process would have written it."""
    plan = {"tasks": [
        {"id": "scan", "title": "Survey the shelves", "action_type": "skill", "name": "stock-taking"},
        {"id": "scan[1]", "title": "", "action_type": "llm", "instruction": "x", "item": {"value": "Insurers"}},
    ]}  # fmt: skip
    rows = [
        started(run_id, goal=goal, workspace=".", settings={"model": "openai/small"}),
        row(run_id, 2, "plan_made", plan=plan, attempts=1),
        row(run_id, 3, "task_finished", task="scan", status="done", seconds=1.0, output="ok", error=None),
        row(run_id, 4, "task_finished", task="scan[1]", status="failed", seconds=1.0, error="quota exhausted"),
        row(run_id, 5, "run_finished", status="done", answer=answer, seconds=1.0, code=None),
    ]
    store.append(rows, {run_id: replace(line(run_id), goal=goal, skills=("stock-taking", "idle-one"), **more)})


def started(run_id: str, **body: object) -> Row:
    return Row(run_id, 1, "2026-01-01T00:00:00.000000Z", "run_started", {"run_id": run_id, **body})


def ids(store: Store, **conditions: object) -> list[str]:
    return [run.run_id for run in store.summaries(**conditions)]  # type: ignore[arg-type]


@pytest.fixture
def store(place: Place) -> Store:
    opened = place.open()
    add(opened, "r1", "Compare redis and valkey", "Latency is lower with Valkey; the café's menu is unchanged.")
    add(opened, "r2", "比较保险市场的规模", "市场规模为三亿。")
    add(opened, "r3", "Redis to-do list")
    assert catch_up(opened, 60.0)
    return opened


def test_words_in_any_order_match_all_searchable_texts(store: Store) -> None:
    expected = {
        "valkey redis": ["r1"],
        "LATENCY lower": ["r1"],
        "lat": ["r1"],
        "cafe": ["r1"],
        "menü": ["r1"],
        "市场": ["r2"],
        "三亿 保险": ["r2"],
        "场市": [],
        "to-do": ["r3"],
        "do-to": [],
        '"redis and valkey"': ["r1"],
        '"valkey and redis"': [],
        "insurers shelves": ["r3", "r2", "r1"],
        "quota": ["r3", "r2", "r1"],
        "stock-taking compare": ["r1"],
        "r2": ["r2"],
        "nowhere redis": [],
    }
    assert {text: ids(store, text=text) for text in expected} == expected


def test_query_syntax_has_no_meaning_in_a_search(store: Store) -> None:
    for text in (
        *('"', "'", '"a" OR b*', "NEAR(a b, 2)", "words : x", "a AND", "-", "^", "*", "(", "%", "_", "\\", "a' | 'b"),
        *(":*", "!", "&", "\0", "\ud800", "x" * 5000, "a " * 5000, "'; DROP TABLE runs; --", "run_words MATCH 1"),
    ):
        assert len(ids(store, text=text)) in (0, 1, 3), text  # and nothing raises
        assert len(ids(store)) == 3, text


def test_an_unindexed_run_is_found_by_its_goal_skills_tags_and_note(place: Place) -> None:
    store = place.open()
    add(store, "r1", "Compare redis", "hidden answer", tags=("to review",), note="for Ada")
    assert ids(store, text="redis stock") == ids(store, text="review ada") == ["r1"]
    assert ids(store, text="hidden") == []
    assert catch_up(store, 60.0)
    assert ids(store, text="hidden") == ids(store, text="review ada hidden") == ["r1"]


def test_runs_of_killed_processes_are_indexed_and_leased_runs_are_not(place: Place) -> None:
    store = place.open()
    add(store, "dead", "a goal", "an answer", status="running")
    add(store, "held", "a goal", "an answer", status="running")
    store.append([], {}, Handover(myself(), taken=["held"]))
    assert [run.run_id for run, _ in store.unindexed(10)] == ["dead"]
    assert catch_up(store, 60.0)
    assert ids(store, text="answer") == ["dead"]


def test_a_changed_run_is_indexed_again_and_outdated_entries_are_ignored(store: Store) -> None:
    ((old, last),) = [(store.find("r1"), store.last_event("r1"))]
    store.append([row("r1", 6, "run_finished", status="done", answer="rewritten", seconds=1.0)], {"r1": old})
    store.index([RunIndex("r1", last, "outdated")])
    assert [run.run_id for run, _ in store.unindexed(10)] == ["r1"]
    assert ids(store, text="outdated") == []
    assert catch_up(store, 60.0)
    assert ids(store, text="rewritten") == ["r1"]
    assert ids(store, text="latency") == []


def test_a_malformed_run_is_indexed_by_its_goal(place: Place) -> None:
    store = place.open()
    add(store, "good", "a goal", "an answer")
    add(store, "odd", "another goal", "an answer")
    store.append([row("odd", 6, "plan_made", plan="none")], {})
    assert catch_up(store, 60.0)
    assert ids(store, text="answer") == ["good"]
    assert ids(store, text="another goal") == ["odd"]


def test_a_deleted_run_is_not_found(store: Store) -> None:
    assert store.delete(["r3"]) == ["r3"]
    add(store, "r4", "another goal")
    assert ids(store, text="redis") == ["r1"]


def test_closing_an_indexer_indexes_the_ended_runs(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer_module, "_CLOSING", 60)  # for slow machines
    store = place.open()
    indexer = Indexer(store)
    for number in range(50):
        add(store, f"r{number:02}", f"goal {number}", "an answer")
    indexer.add([f"r{number:02}" for number in range(50)])
    indexer.close()
    assert len(ids(store, text="answer")) == 50


def test_runs_are_filtered_by_their_fields(place: Place) -> None:
    store = place.open()
    a = replace(line("a"), model="local")
    b = replace(line("b"), model="openai/large", tags=("to review", "x"), skills=("one", "two"), cost_usd=2.0,
                started="2026-02-10T00:00:00.000000Z", note="n")  # fmt: skip
    c = replace(line("c", "failed"), code="BUDGET_SPENT", seconds=100.0, started="2026-03-10T00:00:00.000000Z")
    store.append([], {"a": a, "b": b, "c": c})
    expected: list[tuple[dict[str, object], list[str]]] = [
        ({"tag": "to review"}, ["b"]),
        ({"tag": "to"}, []),
        ({"skill": "two"}, ["b"]),
        ({"skill": "tw_"}, []),
        ({"model": "openai/large"}, ["b"]),
        ({"model": "large"}, ["b"]),
        ({"model": "arge"}, []),
        ({"code": "BUDGET_SPENT"}, ["c"]),
        ({"min_cost": 1.0}, ["b"]),
        ({"max_cost": 0.5}, ["c", "a"]),
        ({"min_seconds": 100}, ["c"]),
        ({"max_seconds": 1.0}, ["b", "a"]),
        ({"since": "2026-02-01"}, ["c", "b"]),
        ({"since": "2026-02-01", "until": "2026-03-01"}, ["b"]),
        ({"status": ("failed",), "min_cost": 0.1, "text": "goal"}, ["c"]),
        ({"tag": "', '"}, []),
    ]
    assert [(conditions, ids(store, **conditions)) for conditions, _ in expected] == expected
    assert store.find("b") == b


def test_runs_are_counted_by_day_status_cause_and_skills(place: Place) -> None:
    store = place.open()
    add(store, "a", "goal", tokens=10, tags=("t",))
    add(store, "b", "goal", tokens=5, tags=("t",), cost_usd=None)
    add(store, "c", "goal", status="running")
    assert catch_up(store, 60.0)
    counts = {count.key: count for count in store.counts("day", "2026-01-01")}
    done = counts["2026-01-01", "done"]
    assert (done.runs, done.tokens, done.cost_usd, done.priced) == (2, 15, 0.5, 1)
    assert counts["2026-01-01", "interrupted"].runs == 1
    assert {count.key: count.runs for count in store.counts("cause", "2026")} == {
        ("done", None): 2,
        ("interrupted", None): 1,
    }
    assert {count.key: count.runs for count in store.counts("tags", "2026")} == {("t",): 2, ("",): 1}
    assert {count.key: count.runs for count in store.counts("skills", "2026")} == {
        ("stock-taking idle-one", "stock-taking"): 3
    }
    assert sorted(store.times("2026")) == [("2026-01-01", 1.0), ("2026-01-01", 1.0)]
    assert not list(store.counts("day", "2027"))
