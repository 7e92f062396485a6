"""Lists of runs: a page at a time, filtered, by batch; and the signals by which other processes follow a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.errors import NotRunning, UnknownRun
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import RunSummary
from tests.executor.stores.runs import line, row

if TYPE_CHECKING:
    from goalwright_executor.stores.store import Store
    from tests.executor.stores.runs import Place


def ids(store: Store, most: int | None = None, **conditions: object) -> list[str]:
    return [run.run_id for run in store.summaries(most, **conditions)]  # type: ignore[arg-type]


def test_runs_are_listed_page_by_page(place: Place) -> None:
    store = place.filled(*(f"r{number}" for number in range(7)))
    assert ids(store, 3) == ["r6", "r5", "r4"]
    assert ids(store, 3, before="r4") == ["r3", "r2", "r1"]
    assert ids(store, 3, before="r1") == ["r0"]


def test_a_dead_run_is_listed_as_interrupted(place: Place) -> None:
    store = place.open()
    runs = {"dead": line("dead", "running"), "live": line("live", "running"), "cut": line("cut", "interrupted")}
    store.append([], runs, Handover(myself(), taken=["live"]))
    assert ids(store, status=("running",)) == ["live"]
    assert ids(store, status=("interrupted",)) == ["dead", "cut"]
    assert ids(store, 1, status=("interrupted", "running")) == ["live"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("CACHES", ["b"]), ("code-rev", ["b"]), ("100%", ["a"]), ("_", []), ("b", ["b"]), ("ähnlich", ["c"])],
)
def test_unindexed_runs_are_searched_literally(place: Place, text: str, expected: list[str]) -> None:
    store = place.open()
    store.append(
        [],
        {
            "a": replace(line("a"), goal="Reach 100% of it"),
            "b": replace(line("b"), goal="Compare three caches", skills=("code-review", "comparing")),
            "c": replace(line("c"), goal="eine ähnliche"),
        },
    )
    assert ids(store, text=text) == expected
    assert store.find("b").skills == ("code-review", "comparing")


def test_goals_of_batches_are_excluded_or_listed_alone(place: Place) -> None:
    store = place.open()
    store.append([], {"a": line("a"), "b": replace(line("b"), batch="tickets"), "c": line("c")})
    assert ids(store, in_batch=False) == ["c", "a"]
    assert ids(store, in_batch=True) == ["b"]
    assert ids(store) == ["c", "b", "a"]


def test_batches_are_counted_by_status_newest_first(place: Place) -> None:
    store = place.open()
    runs = {name: replace(line(name, status), batch=name[0], batch_goal=name) for name, status in [
        ("a1", "done"), ("a2", "done"), ("a3", "failed"), ("b1", "done"), ("b2", "running"), ("b3", "running"),
    ]}  # fmt: skip
    runs["b1"] = replace(runs["b1"], cost_usd=None)
    store.append([], {**runs, "zz": line("zz")}, Handover(myself(), taken=["b2"]))
    counted = {(one.batch, one.status): (one.runs, one.cost_usd) for one in store.batches()}
    assert counted == {
        ("a", "done"): (2, 1.0), ("a", "failed"): (1, 0.5), ("b", "done"): (1, None),
        ("b", "interrupted"): (1, 0.5), ("b", "running"): (1, 0.5),
    }  # fmt: skip
    assert [one.batch for one in store.batches()] == ["b", "b", "b", "a", "a"]
    assert ids(store, batch="a") == ["a3", "a2", "a1"]
    assert store.find("a1").batch_goal == "a1"


def test_events_after_a_number_are_read(place: Place) -> None:
    store = place.filled("r")
    store.append([row("r", 3), row("r", 4)], {})
    assert [one.seq for one in store.rows("r", after=2)] == [3, 4]
    assert list(store.rows("r", after=4)) == []


def test_changes_by_any_process_are_noticed(place: Place) -> None:
    watching = place.filled("r")
    before = watching.changed()
    assert watching.changed() == before
    watching.append([row("r", 3)], {})
    own = watching.changed()
    assert own != before
    other = place.open()
    other.append([row("r", 4)], {})
    assert watching.changed() != own
    other.close()
    watching.close()


def test_a_stop_request_is_stored_until_the_lease_ends(place: Place) -> None:
    store = place.filled("r", "free")
    store.claim("r", myself())
    store.request_stop("r", "stop")
    assert place.open().stop_requests() == {"r": "stop"}
    store.append([], {}, Handover(myself(), released=["r"]))
    assert store.stop_requests() == {}
    with pytest.raises(NotRunning, match="run free is not running"):
        store.request_stop("free", "stop")
    with pytest.raises(UnknownRun):
        store.request_stop("none", "stop")


def test_a_stop_request_for_a_dead_process_does_not_reach_the_next_holder(place: Place) -> None:
    store = place.filled("r")
    store.claim("r", myself())
    store.request_stop("r", "stop")
    place.hand_to("r", replace(myself(), start="before"))
    store.claim("r", myself())
    assert store.stop_requests() == {}


def test_costs_are_rounded() -> None:
    assert RunSummary("r", "g", "done", "2026", cost_usd=0.1 + 0.2).to_dict()["cost_usd"] == 0.3


def test_conversations_count_current_turns_and_the_cost_of_all(place: Place) -> None:
    store = place.open()
    for run, conversation in (("r1", "c1"), ("r2", "c2"), ("r3", "c1"), ("r4", "c3")):
        store.append([row(run, 1)], {run: replace(line(run), conversation=conversation)})
    for run in ("r3", "r4"):
        store.append([row(run, 2, "turn_taken_back", turn=2)], {})
    listed = [(one.conversation, one.goal, one.turns, one.last, one.cost_usd) for one in store.conversations()]
    assert listed == [
        ("c3", "goal of r4", 0, "r4", 0.5),
        ("c1", "goal of r1", 1, "r1", 1.0),
        ("c2", "goal of r2", 1, "r2", 0.5),
    ]
    assert [one.turns for one in store.conversations(1, "c1")] == [1]
    assert list(store.conversations(1, "c")) == []
    assert ids(store, conversation="c1", taken_back=False) == ["r1"]
    assert ids(store, taken_back=True) == ["r4", "r3"]
