"""What was written before 0.1.0 is refused by every command that would read it, and left as it is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.goalwright.interfaces.cli.test_main import ended

DATA = Path(__file__).parent / "data" / "earlier-form"
RUN = "20261116T084229822-6d9d47"
PLAN = "tasks:\n  - {id: only, action_type: llm, instruction: Say hello.}\n"
GOAL = {
    "id": "one",
    "goal": "Say hello.",
    "plan": {"tasks": [{"id": "only", "action_type": "llm", "instruction": "x"}]},
}


@pytest.fixture(autouse=True)
def in_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOALWRIGHT_MODEL", "openai/none")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "goals.jsonl").write_text(json.dumps(GOAL) + "\n", encoding="utf-8")


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--plan", "plan.yaml", "Say hello."),
        ("resume", RUN),
        ("rerun", RUN, "--from", "only"),
        ("replay", RUN, "--strict"),
        ("replay", "--select"),
        ("trace", "list"),
        ("trace", "export", RUN),
        ("trace", "import", "new.jsonl"),
        ("batch", "goals.jsonl", "-o", "results.jsonl"),
        ("journal", "status"),
        ("journal", "migrate"),
        ("serve", "--no-open", "--port", "0"),
        ("serve", "--no-open", "--port", "0", "--read-only"),
    ],
    ids=" ".join,
)
def test_a_journal_is_refused_and_stays_as_it_is(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / ".agents"
    place.mkdir()
    (place / "journal.sqlite").write_bytes(gzip.decompress((DATA / "journal.sqlite.gz").read_bytes()))
    (tmp_path / "new.jsonl").write_text(_new_run(), encoding="utf-8")
    before = files_in(place)
    assert ended(*command) == 2
    said = capsys.readouterr().err
    assert "written before goalwright 0.1.0" in said
    assert "--journal URL, or move this one away" in said
    after = files_in(place)
    assert {name: after[name] for name in before} == before
    assert set(after) <= {*before, ".gitignore"}


@pytest.mark.parametrize(
    "command", [("trace", "import", "old.jsonl"), ("replay", "old.jsonl", "--strict"), ("trace", "show", "old.jsonl")]
)
def test_an_exported_trace_is_refused_and_stays_as_it_is(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = gzip.decompress((DATA / "trace.jsonl.gz").read_bytes())
    (tmp_path / "old.jsonl").write_bytes(old)
    assert ended(*command) == 2
    assert "line 1 was exported before goalwright 0.1.0" in capsys.readouterr().err
    assert (tmp_path / "old.jsonl").read_bytes() == old


def test_results_of_a_batch_are_refused_and_stay_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = (DATA / "results.jsonl").read_bytes()
    (tmp_path / "results.jsonl").write_bytes(old)
    assert ended("batch", "goals.jsonl", "-o", "results.jsonl", "--resume") == 2
    said = capsys.readouterr().err
    assert "results.jsonl, line 1 was written before goalwright 0.1.0" in said
    assert "-o, or move this one away" in said
    assert (tmp_path / "results.jsonl").read_bytes() == old
    assert not (tmp_path / "results.jsonl.runs").exists()


def _new_run() -> str:
    place = {"v": 2, "run_id": "r", "at": "2026-01-01T00:00:00Z"}
    started = {"type": "run_started", "goal": "g", "workspace": "/w", "settings": {}}
    return json.dumps(place | {"seq": 1} | started) + "\n"
