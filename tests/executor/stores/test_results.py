"""Results of other runs by key, in every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.stores.row import Row
from tests.executor.stores.runs import line

if TYPE_CHECKING:
    from goalwright_executor.stores.store import Store
    from tests.executor.stores.runs import Place


def finished(run: str, seq: int, key: str, output: str, day: int = 1) -> Row:
    body = {"task": "a", "status": "done", "seconds": 0.1, "output": output, "error": None, "key": key}
    return Row(run, seq, f"2026-01-{day:02}T00:00:00.000000Z", "task_finished", body)


def put(store: Store, *rows: Row) -> None:
    store.append(rows, {row.run_id: line(row.run_id) for row in rows})


def output(store: Store, key: str, since: str = "2026-01-01", apart_from: str = "mine") -> str | None:
    found = store.result(key, since, apart_from=apart_from)
    return None if found is None else found.body["output"]


def test_the_newest_result_of_another_run_is_returned_whole(place: Place) -> None:
    store = place.open()
    put(
        store,
        finished("r1", 1, "k", "old"),
        finished("r2", 1, "k", "long " * 1_000, 3),
        finished("r3", 1, "j", "no", 4),
    )
    assert output(store, "k") == "long " * 1_000
    assert output(store, "k", since="2026-01-04") is None
    assert output(store, "k", apart_from="r2") == "old"
    assert output(store, "other") is None
    store.delete(["r2"])
    assert output(store, "k") == "old"


def test_results_without_a_key_are_not_found(place: Place) -> None:
    store = place.open()
    put(
        store, finished("r1", 1, "", "no"), Row("r1", 2, "2026-01-01T00:00:00Z", "warned", {"key": "k", "output": "no"})
    )
    assert output(store, "") is None
    assert output(store, "k") is None


def test_results_of_imported_runs_are_not_found(place: Place) -> None:
    store = place.open()
    rows = [finished("theirs", 1, "k", "planted")]
    store.import_runs([(rows, {"theirs": line("theirs")})])
    assert [row.body["key"] for row in store.rows("theirs")] == ["k"]
    assert output(store, "k") is None
    put(store, finished("r1", 1, "k", "ours"))
    assert output(store, "k") == "ours"
