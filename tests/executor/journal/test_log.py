"""The rows that a commit makes from its entries."""

from __future__ import annotations

import pytest

from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.log import Log, LogEntry, rows_of, stamp
from goalwright_executor.stores.row import RunSummary
from goalwright_planner.events import Event, TaskFinished, TaskStarted, ToolCalled

BEGAN = 1_794_000_000_000_000_000


class Nowhere:
    """A sink that accepts nothing."""

    url = ""

    def put(self, entry: LogEntry) -> None:
        raise AssertionError(entry)

    async def settle(self, run_id: str = "") -> None:
        raise AssertionError(run_id)


def entries(*events: Event, apart: int, run: str = "r") -> list[LogEntry]:
    log, summary = Log(Nowhere(), run, Capture()), RunSummary(run, "a goal", "running", "")
    return [LogEntry(log, at + 1, BEGAN + at * apart, event, summary, 0) for at, event in enumerate(events)]


@pytest.mark.parametrize("apart", [1, 1_001, 300_000_000, 1_000_000_000])
def test_each_event_of_a_commit_has_its_own_time(apart: int) -> None:
    rows = rows_of(entries(*[TaskStarted("a", "0" * 32)] * 7, apart=apart))
    assert rows.times == [stamp(BEGAN + at * apart) for at in range(7)]
    assert rows.times[0] == "2026-11-06T21:20:00.000000Z"


def test_rows_keep_the_order_of_changed_and_unchanged_events() -> None:
    called = ToolCalled("a", "files_read", {"status": "success", "data": {}}, "key#1")
    events = TaskStarted("a", "0" * 32), called, TaskFinished("a", "done", 0.5, "out", key="k"), called
    rows = rows_of(entries(*events, apart=1_000))
    assert len(rows) == 4
    assert list(zip(rows.seqs, rows.types, rows.tasks, rows.keys, strict=True)) == [
        (1, "task_started", "a", None),
        (2, "tool_called", "a", None),
        (3, "task_finished", "a", "k"),
        (4, "tool_called", "a", None),
    ]
    assert rows.bodies[0] == '{"task":"a","inputs":"' + "0" * 32 + '"}'


def test_empty_commits_and_broken_surrogates_are_encoded() -> None:
    assert len(rows_of([])) == 0
    broken = TaskFinished("a", "done", 0.5, "half of a pair: \ud800")
    rows = rows_of(entries(TaskStarted("a"), broken, apart=1_000))
    assert rows.types == ["task_started", "task_finished"]
    assert "half of a pair: \ufffd" in rows.bodies[1]


def test_large_texts_are_kept_by_run() -> None:
    long, other = "a long text " * 50, "another text " * 50
    called = [
        ToolCalled("a", "files_read", {"status": "success", "text": text}, "key#1") for text in (long, other, long)
    ]
    rows = rows_of(
        [*entries(called[0], called[1], TaskStarted("a"), apart=1_000), *entries(called[2], apart=1, run="s")]
    )
    assert {run_id: sorted(large.values()) for run_id, large in rows.texts.items()} == {"r": [long, other], "s": [long]}
    left = rows.without({"r"})
    assert (left.run_ids, left.seqs, left.types) == (["s"], [1], ["tool_called"])
    assert [list(large.values()) for large in left.texts.values()] == [[long]]
