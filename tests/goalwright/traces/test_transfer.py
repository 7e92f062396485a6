"""Import of runs, all or none, and deletion of nothing but runs."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.settings.paths import Paths
from goalwright.traces import transfer
from goalwright_executor.journal import trace_file
from goalwright_executor.stores.errors import RunExists
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_skills.errors import InputError
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import GOAL, answering, goalwright, prepare, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright_executor.stores.row import Row, RunSummary


@pytest.fixture(scope="module")
def recorded() -> list[str]:
    """The lines of a run, once a test has made it."""
    return []


@pytest.fixture
async def lines(recorded: list[str], request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """An exported run."""
    if not recorded:
        workspace: Path = request.getfixturevalue("workspace")
        prepare(workspace)
        async with goalwright(workspace, ScriptedModel(answering)) as runtime:
            await runtime.run(GOAL)
        recorded += trace_file.lines(rows(workspace))
    return [json.loads(line) for line in recorded]


@pytest.fixture
def there(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "there" / "journal.sqlite")
    yield store
    store.close()


def import_lines(tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]) -> list[str]:
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return transfer.import_runs([file], there, Paths.of(tmp_path / "there", os.environ))


def called(lines: list[dict[str, Any]], run_id: str) -> list[dict[str, Any]]:
    return [line | {"run_id": run_id} for line in lines]


def test_an_imported_run_is_the_same_run(tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]) -> None:
    assert import_lines(tmp_path, there, called(lines, "one") + called(lines, "two")) == ["one", "two"]
    assert [json.loads(line) for line in trace_file.lines(there.rows("two"))] == called(lines, "two")
    assert [(run.run_id, run.status, run.tasks) for run in there.summaries()] == [
        ("two", "done", 3),
        ("one", "done", 3),
    ]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda run: run[1:], "1 event before its event 2 is missing"),
        (lambda run: run[:5] + run[6:], "1 event before its event 7 is missing"),
        (lambda run: [*run[:5], run[4], *run[5:]], "comes after"),
        (lambda run: run[:5] + run[8:], "3 events before its event 9 are missing"),
        (lambda run: run[::-1], r"events before its event \d+ are missing"),
        (lambda run: [*run[:5], run[6], run[5], *run[7:]], "1 event before its event 7 is missing"),
        (lambda run: [{**run[0], "type": "warned", "message": "m"}, *run[1:]], "does not begin with run_started"),
        (lambda run: [*run[:-1], {**run[-1], "v": 99}], "newer goalwright"),
        (lambda run: [*run[:-1], {**run[-1], "seconds": None}], r"Expected `float`, got `null` - at `\$\.seconds`"),
        (lambda run: [{**line, "run_id": "../../src"} for line in run], r"at `\$\.run_id`"),
        (lambda run: run[:3] + called(run, "other") + run[3:], "its events are not consecutive"),
        (lambda run: run + called(run, "whole"), "already in the journal"),
    ],
)
def test_invalid_file_imports_nothing(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]], fault: Any, says: str
) -> None:
    if "already" in says:
        import_lines(tmp_path, there, called(lines, "whole"))
    before = list(there.summaries())
    with pytest.raises(InputError, match=says):
        import_lines(tmp_path, there, called(lines, "first") + fault(lines))
    assert list(there.summaries()) == before


class Broken(SqliteStore):
    """A journal whose process ends after it imported the first piece."""

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        def first() -> Iterator[tuple[Sequence[Row], Mapping[str, RunSummary]]]:
            left = iter(pieces)
            yield next(left)
            assert next(left)[0]  # there was more to come
            raise KeyboardInterrupt

        super().import_runs(first())


@pytest.mark.slow
def test_interrupted_import_is_rolled_back_and_repeatable(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "_CHUNK_SIZE", 500)
    runs = [f"run-{number:04}" for number in range(500 // len(lines) + 2)]
    many = [line for run in runs for line in called(lines, run)]
    broken = Broken(tmp_path / "there" / "journal.sqlite")
    with pytest.raises(KeyboardInterrupt):
        import_lines(tmp_path, broken, many)
    broken.close()
    assert list(there.summaries()) == []
    import_lines(tmp_path, there, called(lines, "before"))
    assert import_lines(tmp_path, there, many) == runs
    for run in ("before", runs[0], runs[-2], runs[-1]):
        assert [json.loads(line) for line in trace_file.lines(there.rows(run))] == called(lines, run)


def test_a_run_imported_meanwhile_refuses_the_whole_file(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    import_lines(tmp_path, there, called(lines, "two"))
    pieces = [
        ([row._replace(run_id=run) for row in there.rows("two")], {run: replace(there.find("two"), run_id=run)})
        for run in ("one", "two")
    ]
    with pytest.raises(RunExists, match="run two is already in the journal"):
        there.import_runs(pieces)
    assert [run.run_id for run in there.summaries()] == ["two"]
    there.import_runs(pieces[:1])
    assert [run.run_id for run in there.summaries()] == ["two", "one"]


def test_duplicate_run_in_two_files_is_not_imported(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file in files:
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(InputError, match="appears twice"):
        transfer.import_runs(files, there, Paths.of(tmp_path / "there", os.environ))
    assert list(there.summaries()) == []


def test_a_file_without_a_run_is_refused(tmp_path: Path, there: SqliteStore) -> None:
    with pytest.raises(InputError, match="contains no run"):
        import_lines(tmp_path, there, [])


def test_deleting_a_run_removes_only_its_folder(
    tmp_path: Path, there: SqliteStore, lines: list[dict[str, Any]]
) -> None:
    paths = Paths.of(tmp_path / "there", os.environ)
    runs = paths.agents / "runs"
    for folder in (runs / "one", runs / "two", paths.workspace / "src"):
        folder.mkdir(parents=True)
    import_lines(tmp_path, there, called(lines, "one"))
    # An older version imported any id.
    strange = [row._replace(run_id="../../src") for row in there.rows("one")]
    summary = there.find("one")
    there.append(strange, {"../../src": type(summary)("../../src", "g", "done", summary.started)})
    deleted = transfer.delete_runs(["one", "../../src", "two"], there, paths)
    assert (sorted(deleted.runs), deleted.left) == (["../../src", "one"], [])
    assert (paths.workspace / "src").is_dir()
    assert [folder.name for folder in runs.iterdir()] == ["two"]
