"""Runs on the move: whole or not at all, and never out of where they belong."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from executor.journal import trace_file
from executor.stores.errors import RunExists
from executor.stores.sqlite.store import SqliteStore
from skills.errors import InputError
from tests.fakes import ScriptedModel
from tests.weft.recorded import GOAL, answering, prepare, rows, weft
from weft.settings.paths import Paths
from weft.traces import transfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from executor.stores.row import Row, RunSummary


@pytest.fixture
async def lines(workspace: Path) -> list[dict[str, Any]]:
    """An exported run."""
    prepare(workspace)
    async with weft(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(GOAL)
    return [json.loads(line) for line in trace_file.lines(rows(workspace))]


@pytest.fixture
def there(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "there" / "journal.sqlite")
    yield store
    store.close()


def taken(tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]) -> list[str]:
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return transfer.take([file], there, Paths.of(tmp_path / "there", os.environ))


def called(lines: list[dict[str, Any]], run_id: str) -> list[dict[str, Any]]:
    return [line | {"run_id": run_id} for line in lines]


def test_a_run_that_is_taken_in_is_the_same_run(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    assert taken(tmp_path, there, called(lines, "one") + called(lines, "two")) == ["one", "two"]
    assert [json.loads(line) for line in trace_file.lines(there.rows("two"))] == called(lines, "two")
    assert [(run.run_id, run.status, run.tasks) for run in there.summaries()] == [
        ("two", "done", 3),
        ("one", "done", 3),
    ]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda run: run[1:], "its event 1 is missing"),
        (lambda run: run[:5] + run[6:], "its event 6 is missing"),
        (lambda run: [*run[:5], run[4], *run[5:]], "comes after"),
        (lambda run: run[::-1], "its event 1 is missing"),
        (lambda run: [*run[:5], run[6], run[5], *run[7:]], "its event 6 is missing"),
        (lambda run: [{**run[0], "type": "warned", "message": "m"}, *run[1:]], "its event 1 is missing"),
        (lambda run: [*run[:-1], {**run[-1], "v": 99}], "newer weft"),
        (lambda run: [*run[:-1], {**run[-1], "seconds": None}], "'seconds' is None"),
        (lambda run: [{**line, "run_id": "../../src"} for line in run], "'run_id' is '../../src'"),
        (lambda run: run[:3] + called(run, "other") + run[3:], "do not all stand together"),
        (lambda run: run + called(run, "whole"), "already in the journal"),
    ],
)
def test_a_file_with_a_fault_anywhere_leaves_nothing_behind(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]], fault: Any, says: str
) -> None:
    if "already" in says:
        taken(tmp_path, there, called(lines, "whole"))
    before = list(there.summaries())
    with pytest.raises(InputError, match=says):
        taken(tmp_path, there, called(lines, "first") + fault(lines))
    assert list(there.summaries()) == before


class Broken(SqliteStore):
    """A journal whose process ends when the first piece of what it takes in is written."""

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        def first() -> Iterator[tuple[Sequence[Row], Mapping[str, RunSummary]]]:
            left = iter(pieces)
            yield next(left)
            assert next(left)[0]  # there was more to come
            raise KeyboardInterrupt

        super().import_runs(first())


def test_a_large_file_whose_taking_in_broke_off_left_nothing_and_can_be_taken_in_again(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    runs = [f"run-{number:04}" for number in range(5_000 // len(lines) + 2)]
    many = [line for run in runs for line in called(lines, run)]
    broken = Broken(tmp_path / "there" / "journal.sqlite")
    with pytest.raises(KeyboardInterrupt):
        taken(tmp_path, broken, many)
    broken.close()
    assert list(there.summaries()) == []
    taken(tmp_path, there, called(lines, "before"))
    assert taken(tmp_path, there, many) == runs
    for run in ("before", runs[0], runs[-2], runs[-1]):
        assert [json.loads(line) for line in trace_file.lines(there.rows(run))] == called(lines, run)


def test_a_run_that_came_meanwhile_refuses_the_whole_file(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    taken(tmp_path, there, called(lines, "two"))
    pieces = [
        ([row._replace(run_id=run) for row in there.rows("two")], {run: replace(there.find("two"), run_id=run)})
        for run in ("one", "two")
    ]
    with pytest.raises(RunExists, match="run two is already in the journal"):
        there.import_runs(pieces)
    assert [run.run_id for run in there.summaries()] == ["two"]
    there.import_runs(pieces[:1])
    assert [run.run_id for run in there.summaries()] == ["two", "one"]


def test_a_run_that_two_files_hold_is_taken_from_neither(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file in files:
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(InputError, match="stand twice"):
        transfer.take(files, there, Paths.of(tmp_path / "there", os.environ))
    assert list(there.summaries()) == []


def test_a_file_without_a_run_is_said(tmp_path: Path, there: SqliteStore) -> None:
    with pytest.raises(InputError, match="holds no run"):
        taken(tmp_path, there, [])


def test_forgetting_a_run_removes_nothing_but_its_own_folder(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    paths = Paths.of(tmp_path / "there", os.environ)
    runs = paths.agents / "runs"
    for folder in (runs / "one", runs / "two", paths.workspace / "src"):
        folder.mkdir(parents=True)
    taken(tmp_path, there, called(lines, "one"))
    # An older version took in any id.
    strange = [row._replace(run_id="../../src") for row in there.rows("one")]
    summary = there.find("one")
    there.append(strange, {"../../src": type(summary)("../../src", "g", "done", summary.started)})
    assert sorted(transfer.forget(["one", "../../src", "two"], there, paths)) == ["../../src", "one"]
    assert (paths.workspace / "src").is_dir()
    assert [folder.name for folder in runs.iterdir()] == ["two"]
