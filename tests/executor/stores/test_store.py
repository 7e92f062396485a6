"""Every store: writing, reading and finding rows and runs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.errors import StoreFailed, UnknownRun
from tests.executor.stores.runs import fill, line, row

if TYPE_CHECKING:
    from tests.executor.stores.runs import Place


def test_rows_are_read_in_order_and_by_type_and_task(place: Place) -> None:
    store = place.filled("r1")
    assert [one.body for one in store.rows("r1")] == [{"message": "x" * 1000}, {"task": "a"}]
    assert [one.seq for one in store.rows("r1", types=("task_started",))] == [2]
    assert [one.seq for one in store.rows("r1", task="a")] == [2]
    assert list(store.rows("r2")) == []


def test_runs_are_listed_newest_first_and_found_by_prefix(place: Place) -> None:
    store = place.filled("20260101-a", "20260102-b")
    assert [run.run_id for run in store.summaries()] == ["20260102-b", "20260101-a"]
    assert store.find("20260101").run_id == "20260101-a"
    assert store.find("last").run_id == "20260102-b"
    with pytest.raises(UnknownRun, match="20260102-b, 20260101-a"):
        store.find("2026")
    with pytest.raises(UnknownRun, match="no run 'x%'"):
        store.find("x%")


def test_the_last_run_is_not_an_imported_one_if_there_are_others(place: Place) -> None:
    store = place.open()
    for run_id in ("20270101-a", "20280101-b"):
        store.import_runs([([row(run_id, 1)], {run_id: line(run_id)})])
    assert store.find("last").run_id == "20280101-b"
    fill(store, "20260101-c")
    assert store.find("last").run_id == "20260101-c"
    assert store.find("2028").run_id == "20280101-b"


def test_an_empty_name_finds_no_run(place: Place) -> None:
    store = place.open()
    with pytest.raises(UnknownRun, match="no run was named"):
        store.find("")
    store.close()


def test_an_exact_id_takes_precedence_over_longer_ids(place: Place) -> None:
    store = place.filled("r1", *(f"r1{number}" for number in range(9)))
    assert store.find("r1").run_id == "r1"


def test_an_append_is_all_or_nothing(place: Place) -> None:
    store = place.filled("r1")
    with pytest.raises(StoreFailed, match="cannot be written"):
        store.append([row("r1", 3, message="new"), row("r1", 2, message="taken already")], {"r1": line("r1")})
    assert [one.seq for one in store.rows("r1")] == [1, 2]


def test_concurrent_writers_lose_nothing(place: Place) -> None:
    def write(number: int) -> None:
        store = place.open()
        for seq in range(20):
            store.append([row(f"r{number}", seq)], {f"r{number}": line(f"r{number}")})
        store.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(1 for number in range(4) for _ in place.open().rows(f"r{number}")) == 80


def test_lone_surrogates_are_stored(place: Place) -> None:
    store = place.open()
    store.append([row("r", 1, message="a\ud800b"), row("r", 2, message="\ud800" * 900)], {"r": line("r")})
    assert len(list(store.rows("r"))) == 2
