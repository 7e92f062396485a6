"""`goalwright skills eval` and `goalwright skills check --overlap`: what they print, and when they fail."""

from __future__ import annotations

import json
import re
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.cli.view import output, progress
from goalwright.interfaces.cli.view.reports import selection
from goalwright_skills.evaluation.evaluate import Evaluation, Figures
from tests.goalwright.interfaces.cli.test_main import ended
from tests.openai_server import Say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Ran
    from tests.openai_server import OpenAIServer, Script

REVIEW = {"goal": "Review the code of this pull request", "expected": "code-review"}
NOTES = {"id": "n", "goal": "Write release notes and a changelog entry for 2.0", "expected": ["release-notes"]}
NONE = {"goal": "Review code in a pull request, or rather not", "expected": None}
WRONG = {"id": "w", "goal": "Write release notes for version 2.0", "expected": "meeting-notes"}


@pytest.fixture(autouse=True)
def in_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def goals(tmp_path: Path) -> Callable[..., str]:
    def write(*rows: dict[str, Any]) -> str:
        (tmp_path / "goals.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return "goals.jsonl"

    return write


def test_json_has_the_documented_fields(goals: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "eval", goals(REVIEW, NOTES, NONE, WRONG), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    misses = document.pop("misses")
    assert document == {
        "goals": 4, "r_at_1": 0.6667, "r_at_5": 1.0, "r_at_30": 1.0, "nothing_selected": 0, "set_recall": 0.6667,
        "picked_for_none": 1, "sets": {},
    }  # fmt: skip
    assert [miss["id"] for miss in misses] == ["line-3", "w"]
    none, wrong = misses
    assert list(wrong) == ["id", "goal", "expected", "selected", "why"]
    assert (none["expected"], none["selected"][0]) == ([], "code-review")
    assert (wrong["expected"], wrong["selected"][0]) == (["meeting-notes"], "release-notes")
    assert "release-notes comes first (" in wrong["why"]
    assert 'The description of meeting-notes lacks "' in wrong["why"]
    assert "`For …, use meeting-notes.` in that of release-notes" in wrong["why"]


def test_text_has_measures_misses_and_advice(goals: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "eval", goals(REVIEW, NONE, WRONG)) == 0
    out = capsys.readouterr().out
    head, row, _, misses, *_ = out.splitlines()
    assert re.split(r"\s{2,}", head.strip()) == [
        "goals", "first place", "R@5", "R@30", "nothing selected", "set recall", "picked for none",
    ]  # fmt: skip
    assert row.split() == ["all", "goals", "3", "0.500", "1.000", "1.000", "0", "0.500", "1"]
    assert misses == "2 misses of 3 goals"
    assert "\nw  Write release notes for version 2.0\n  expected meeting-notes; selected release-notes" in out
    assert "  meeting-notes: missed by 1 goal; first instead: release-notes (1); its description lacks: " in out


def test_misses_do_not_blame_an_expected_skill(goals: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    both = {"goal": "Write release notes for 2.0", "expected": ["release-notes", "code-review"]}
    assert ended("skills", "eval", goals(WRONG, both)) == 0
    assert "  code-review: missed by 1 goal; its description lacks: " in capsys.readouterr().out


def test_figures_are_printed_for_each_set(goals: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = {**REVIEW, "set": "reviews"}, {**WRONG, "pool": "notes"}, {**NONE, "pool": "notes"}
    assert ended("skills", "eval", goals(*rows)) == 0
    _, notes, reviews, every, *_ = capsys.readouterr().out.splitlines()
    assert notes.split() == ["notes", "2", "0.000", "1.000", "1.000", "0", "0.000", "1"]
    assert reviews.split() == ["reviews", "1", "1.000", "1.000", "1.000", "0", "1.000", "0"]
    assert every.startswith("all goals")
    assert ended("skills", "eval", goals(*rows), "--json") == 0
    sets = json.loads(capsys.readouterr().out)["sets"]
    assert (sets["notes"]["goals"], sets["notes"]["picked_for_none"], sets["reviews"]["r_at_1"]) == (2, 1, 1.0)


def test_only_a_few_misses_are_printed_unless_all_are_asked_for(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = goals(*({**WRONG, "id": f"w{number}"} for number in range(25)))
    assert ended("skills", "eval", file) == 0
    assert "… and 5 more; -v shows all" in capsys.readouterr().out
    assert ended("skills", "eval", file, "-v") == 0
    assert "w24  Write" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "status", "said"),
    [
        (["--check", "--allow-misses", "1", "--min-r-at-1", "0.5", "--min-r-at-5", "1"], 0, ""),
        (["--check", "--allow-misses", "1", "--max-picked-for-none", "1", "--max-nothing-selected", "0"], 0, ""),
        (["--check", "--min-r-at-1", "0.5"], 1, "check failed: 1 goal missed"),
        (["--check", "--min-r-at-1", ".8"], 1, "check failed: first place is 0.500, below 0.800"),
        (["--check", "--min-r-at-30", "1", "--allow-misses", "1"], 0, ""),
        (["--check", "--min-set-recall", "0.6"], 1, "check failed: set recall is 0.500, below 0.600"),
        (["--check", "--max-picked-for-none", "0"], 1, "check failed: picked for none is 1, above 0"),
        (["--check"], 1, "check failed: 2 goals missed"),
        (["--check", "--allow-misses", "2"], 0, ""),
        (["--check", "--allow-misses", "1"], 1, "check failed: 2 goals missed, more than 1"),
        (["--allow-misses", "1"], 2, "bounds have no effect without --check"),
        (["--min-r-at-1", "0.8"], 2, "bounds have no effect without --check"),
        (["--check", "--min-r-at-1", "80"], 2, "80"),
        (["--detector", "nope"], 2, "there is no detector 'nope'"),
    ],
)
def test_a_check_fails_below_its_bounds(
    flags: list[str], status: int, said: str, goals: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("skills", "eval", goals(REVIEW, NONE, WRONG), "-q", *flags) == status
    err = capsys.readouterr().err
    assert said in err if said else err == ""


def test_bound_fails_if_no_goal_measures_it() -> None:
    nothing = Evaluation(Figures(1, None, None, None, 0, None, 0), {}, ())
    assert list(selection.below(nothing, {"r_at_1": 0.1})) == ["first place is not measured, below 0.100"]


def test_more_goals_without_a_skill_than_allowed_fail_a_check(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    lost = {"goal": "Bake a sourdough loaf", "expected": "code-review"}
    flags = ("--check", "--allow-misses", "1", "-q", "--max-nothing-selected")
    assert ended("skills", "eval", goals(REVIEW, lost), *flags, "1") == 0
    assert ended("skills", "eval", goals(REVIEW, lost), *flags, "0") == 1
    assert "check failed: nothing selected is 1, above 0" in capsys.readouterr().err


def test_check_fails_if_the_best_skill_is_not_selected(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    first = {"goal": "Bake a sourdough loaf with the team", "expected": "x"}
    assert ended("skills", "select", "--top", "1", "--json", first["goal"]) == 0
    first["expected"] = json.loads(capsys.readouterr().out)["selected"][0]["name"]
    assert ended("skills", "eval", goals(first), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["r_at_1"], document["misses"][0]["selected"]) == (1.0, [])
    assert ended("skills", "eval", goals(first), "-q", "--check", "--min-r-at-1", "1") == 1
    assert "check failed: 1 goal missed" in capsys.readouterr().err


def test_wrong_lines_are_an_error_with_file_and_line(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("skills", "eval", goals(REVIEW, {"goal": "x"}), "--json") == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "goals.jsonl:2: 'expected' is missing" in error["message"]
    assert ended("skills", "eval", "none.jsonl") == 2
    assert "none.jsonl cannot be read" in capsys.readouterr().err


def test_unknown_expected_skill_causes_a_warning(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL_DEBUGGING_ENABLED", "false")
    rows = [
        {**REVIEW, "expected": name} for name in ("code-revue", "code-revue", "debugging", *(f"x{n}" for n in range(9)))
    ]
    assert ended("skills", "eval", goals(*rows), "--json") == 0
    ran = capsys.readouterr()
    assert "warning: there is no skill 'code-revue' here; the nearest names are code-review, " in ran.err
    assert "expected on line 1 and 1 more" in ran.err
    assert (
        "warning: the skill 'debugging' is disabled (disabled by SKILL_DEBUGGING_ENABLED=false) and cannot" in ran.err
    )
    assert "6 more expected skills, of 6 goals, are missing" in ran.err
    assert json.loads(ran.out)["misses"][0]["why"].startswith("There is no skill 'code-revue' here")


def test_goals_come_from_stdin_and_from_one_pool(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n".join(json.dumps({**row, "pool": pool}) for row, pool in ((REVIEW, "a"), (WRONG, "b")))
    for pool, status, goals in (("a", 0, 1), ("c", 2, None)):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(lines.encode())))
        assert ended("skills", "eval", "-", "--pool", pool, "--json") == status
        assert json.loads(capsys.readouterr().out).get("goals") == goals
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(json.dumps(REVIEW).encode())))
    assert ended("skills", "eval", "-", "--pool", "c") == 2
    assert "stdin has no goals of the pool 'c'\n  leave --pool out" in capsys.readouterr().err


def test_llm_detector_is_asked_once_per_goal(
    goals: Callable[..., str], goalwright: Callable[..., Ran], serve: Callable[[Script], OpenAIServer], tmp_path: Path
) -> None:
    server = serve(lambda _: Say('{"skills": [{"name": "release-notes", "reason": "it fits"}]}'))
    flags = ("--detector", "llm", "--model", "openai/test")
    ran = goalwright("skills", "eval", goals(NOTES, WRONG), "--json", *flags, cwd=tmp_path)
    assert ran.status == 0, ran.err
    document = json.loads(ran.out)
    assert (document["goals"], document["r_at_1"], len(server.calls)) == (2, 0.5, 2)


def test_progress_at_a_terminal_and_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_COUNTER_REDRAW", 0.0)
    monkeypatch.setattr(progress, "_COUNTER_LINE", 0.0)
    for terminal, quiet, said in (
        (True, False, "\r\x1b[K7 done\r\x1b[K"),
        (False, False, "7 done\n"),
        (True, True, ""),
        (False, True, ""),
    ):
        monkeypatch.setattr(output, "is_terminal", lambda shown=terminal: shown)
        with progress.counter(lambda done: f"{done} done", quiet=quiet) as note:
            note(7)
        assert capsys.readouterr().err == said


def test_overlap_lists_pairs_with_goals(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("pdf-a", "pdf-b"):
        assert ended("skills", "new", name, "--description", "Split PDF pages and rotate them.", "-q") == 0
    capsys.readouterr()
    assert ended("skills", "check", "--overlap", "--skill", "pdf-a", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [
        {"a": "pdf-a", "b": "pdf-b", "goals": ["Split PDF pages and rotate them"]}
    ]
    assert ended("skills", "check", "--overlap", "--limit", "1") == 0
    assert "pdf-a  pdf-b  1 goal\n  Split PDF pages and rotate them\n" in capsys.readouterr().out
    assert (
        ended("skills", "check", "--overlap", "--goals", goals(REVIEW, WRONG, {"goal": "Split PDF pages"}), "--json")
        == 0
    )
    pairs = {(row["a"], row["b"]): row["goals"] for row in json.loads(capsys.readouterr().out)}
    assert pairs["meeting-notes", "release-notes"] == [WRONG["goal"]]
    assert pairs["pdf-a", "pdf-b"] == ["Split PDF pages"]


def test_overlap_reports_errors_and_empty_results(
    goals: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("skills", "check", "--overlap", "--skill", "nope") == 2
    assert "there is no skill 'nope'" in capsys.readouterr().err
    assert ended("skills", "check", "--overlap", "--goals", "none.jsonl") == 2
    capsys.readouterr()
    absent = {"goal": "Write release notes for 2.0", "expected": "gone"}
    assert ended("skills", "check", "--overlap", "--goals", goals(absent)) == 0
    told = capsys.readouterr()
    assert "there is no skill 'gone' here" in told.err
    assert ("No two skills compete." in told.err, told.out) == (True, "")
    assert ended("skills", "check", "--overlap", "--skill", "chinese-writing", "--detector", "llm") == 0
    assert "No two skills compete." in capsys.readouterr().err
