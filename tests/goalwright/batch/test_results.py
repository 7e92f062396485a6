"""The results file, and the state that resuming needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.batch.options import OptionNeeded
from goalwright.batch.results import (
    FORM,
    EarlierResult,
    Results,
    drop,
    errors_files,
    forget_runs,
    locked,
    read_earlier,
    record_runs,
    refuse_existing,
    runs_path,
)
from goalwright.interfaces.cli.hints import hint_for
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from pathlib import Path


def row(goal_id: str, status: str = "done", **more: Any) -> dict[str, Any]:
    made = {"v": FORM, "id": goal_id, "line": 1, "run_id": f"run-{goal_id}", "status": status, "content_hash": "h"}
    return made | more


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_result_is_written_as_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    results = Results(path)
    results.began("a", "h", "run-a")
    results.ended(row("a", answer="zwei\nZeilen"))
    assert written(path) == [row("a", answer="zwei\nZeilen")]
    assert runs_path(path).exists()
    results.close(complete=True)
    assert not runs_path(path).exists()


def test_failures_can_go_to_a_separate_file(tmp_path: Path) -> None:
    path, errors = tmp_path / "out.jsonl", tmp_path / "errors.jsonl"
    results = Results(path, errors)
    results.ended(row("a"))
    results.ended(row("b", "failed"))
    results.close(complete=False)
    assert [one["id"] for one in written(path)] == ["a"]
    assert [one["id"] for one in written(errors)] == ["b"]
    assert set(read_earlier(path, errors)) == {"a", "b"}


def test_errors_file_is_remembered_while_it_has_goals(tmp_path: Path) -> None:
    path, errors = tmp_path / "out.jsonl", tmp_path / "bad" / "errors.jsonl"
    errors.parent.mkdir()
    results = Results(path, errors)
    results.ended(row("a"))
    results.ended(row("b", "failed"))
    results.close(complete=True)
    moved = tmp_path.rename(tmp_path.with_name("moved")) / "out.jsonl"
    assert errors_files(moved) == [moved.parent / "bad" / "errors.jsonl"]
    again = Results(moved, moved.parent / "others.jsonl")
    drop(errors_files(moved)[0], ["b"])
    again.ended(row("b"))
    again.close(complete=True)
    assert not runs_path(moved).exists()
    assert errors_files(moved) == []


def test_duplicate_id_in_two_files_stays_in_the_first(tmp_path: Path) -> None:
    path, errors = tmp_path / "out.jsonl", tmp_path / "errors.jsonl"
    path.write_text(json.dumps(row("a")) + "\n", encoding="utf-8")
    errors.write_text("".join(json.dumps(row(name, "failed")) + "\n" for name in "ab"), encoding="utf-8")
    assert {name: one.status for name, one in read_earlier(path, errors).items()} == {
        "a": "done",
        "b": "failed",
    }
    assert written(errors) == [row("b", "failed")]


def test_runs_of_deleted_results_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    results = Results(path, tmp_path / "errors.jsonl")
    results.began("a", "h", "run-a")
    results.close(complete=False)
    forget_runs(path)
    assert (read_earlier(path), errors_files(path)) == ({}, [])
    forget_runs(tmp_path / "never.jsonl")
    assert not runs_path(tmp_path / "never.jsonl").exists()


def test_interrupted_goal_keeps_its_run_and_half_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    results = Results(path)
    results.began("a", "h", "run-a")
    results.ended(row("a"))
    results.began("b", "h2", "run-b")
    results.close(complete=False)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": "b", "run_id"')
    assert read_earlier(path) == {"a": EarlierResult("h", "run-a", "done"), "b": EarlierResult("h2", "run-b")}
    assert written(path) == [row("a")]


def test_full_disk_is_reported_with_file_and_hint(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.symlink_to("/dev/full")
    results = Results(path)
    with pytest.raises(GoalwrightError, match=r"out\.jsonl could not be written: No space left") as caught:
        results.ended(row("a"))
    assert "resume the batch" in caught.value.hint
    results.close(complete=False)


@pytest.mark.parametrize("half", [b'{"id": "b', b"{", b"\0\0\0"])
def test_half_line_of_killed_process_is_dropped(tmp_path: Path, half: bytes) -> None:
    path = tmp_path / "out.jsonl"
    whole = json.dumps(row("a")).encode() + b"\n"
    path.write_bytes(whole + half)
    assert set(read_earlier(path)) == {"a"}
    assert path.read_bytes() == whole


def test_foreign_text_is_not_a_half_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("one line of notes", encoding="utf-8")
    with pytest.raises(InputError, match="not valid JSON"):
        read_earlier(path)
    assert path.read_text(encoding="utf-8") == "one line of notes"


def test_complete_last_line_without_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps(row("a")) + "\n" + json.dumps(row("b")), encoding="utf-8")
    assert set(read_earlier(path)) == {"a", "b"}
    assert path.read_text(encoding="utf-8").endswith("}\n")


def test_duplicate_id_keeps_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    lines = [row("a", "failed"), row("b"), row("a")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read_earlier(path)["a"].status == "done"
    assert written(path) == [row("b"), row("a")]


def test_runs_of_goals_to_redo_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(row(name, "failed")) + "\n" for name in "ab"), encoding="utf-8")
    history = read_earlier(path)
    record_runs(path, {"a": history["a"]})
    drop(path, ["a"])
    assert read_earlier(path) == {"a": EarlierResult("h", "run-a"), "b": EarlierResult("h", "run-b", "failed")}


def test_only_one_batch_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with locked(path), pytest.raises(InputError, match="another batch is writing"), locked(path):
        pass
    with locked(path):  # the first has let it go
        Results(path).close(complete=True)
    assert list(tmp_path.iterdir()) == [path]


def test_lone_surrogate_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    results = Results(path)
    results.ended(row("a", answer="half \ud83d of it"))
    results.close(complete=True)
    assert written(path)[0]["answer"] == "half \ud83d of it"


def test_lines_are_replaced_atomically(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(row(name)) + "\n" for name in "abc"), encoding="utf-8")
    drop(path, ["b"])
    assert [one["id"] for one in written(path)] == ["a", "c"]
    drop(path, [])
    drop(tmp_path / "missing", ["x"])
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["out.jsonl"]


def test_existing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(OptionNeeded, match="exists already; nothing was changed") as refused:
        refuse_existing(path, None)
    assert refused.value.option == "resume"
    assert "--resume" in hint_for(refused.value)
    with pytest.raises(InputError, match="no folder"):
        refuse_existing(tmp_path / "no" / "out.jsonl")


@pytest.mark.parametrize(
    "text", ["not json\n", "[1]\n", '{"other": 1}\n', '{"errors": 1}\n', '{"id": "a", "run_id": "r"}\n']
)
def test_foreign_file_is_refused_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="line 1 is no"):
        read_earlier(path)
    assert path.read_text(encoding="utf-8") == text
