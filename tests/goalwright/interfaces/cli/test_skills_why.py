"""`goalwright skills select --why`, and how `goalwright skills` shows the lists of the settings."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.goalwright.interfaces.cli.test_main import ended
from tests.skills.tree import put

if TYPE_CHECKING:
    from pathlib import Path

GOAL = "Review the code of this pull request"
NOTHING = "No skill is selected: none has anything in common with the goal."


@pytest.fixture(autouse=True)
def in_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def decide(folder: Path, text: str) -> None:
    (folder / "goalwright.toml").write_text(f"[skills]\n{text}\n", encoding="utf-8")


def test_json_has_the_documented_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "select", "--why", "--json", "--top", "3", GOAL) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["goal", "certain", "why", "candidates"]
    assert (document["goal"], len(document["candidates"])) == (GOAL, 3)
    first = document["candidates"][0]
    assert list(first) == ["name", "score", "selected", "margin", "parts", "change"]
    assert (first["name"], first["selected"]) == ("code-review", True)
    for part in (part for one in document["candidates"] for part in one["parts"]):
        assert list(part) == ["part", "score", "signals"]


def test_text_has_a_block_for_each_candidate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decide(tmp_path, 'manual = ["code-review"]\npin = ["decision-memo"]')
    assert ended("skills", "select", "--why", "--top", "16", GOAL) == 0
    out = capsys.readouterr().out
    assert "\n\ncode-review  " in out
    assert "  It is manual: name it with $code-review in the goal, or request it.\n" in out
    assert ended("skills", "select", "--why", f"$code-review {GOAL}") == 0
    assert "code-review  1.00  selected" in capsys.readouterr().out


def test_long_parts_of_a_goal_are_shortened_in_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    goal = f"{GOAL}. {'Mind the names. ' * 500}"
    assert ended("skills", "select", "--why", "-v", "--top", "3", goal) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) < 300
    assert f"'{GOAL}. Mind the names." in out
    assert "code-review" in out
    assert "  nothing would change that" in out or "  it would not be, for a " in out


def test_a_named_skill_is_explained_even_if_it_was_no_candidate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(80):
        put(tmp_path / f"skills/reviews-{number}", f"reviews-{number}", f"{GOAL} in project {number}.")
    put(tmp_path / "skills/beehives", "beehives", "Harvests honey from beehives.")
    put(tmp_path / "skills/broken", "broken", "")
    named = ("--why", "beehives", "--why", "broken")
    assert ended("skills", "select", "--why", "--json", "--top", "2", *named, GOAL) == 0
    document = json.loads(capsys.readouterr().out)
    *_, one, other = document["candidates"]
    assert (one["name"], one["selected"], one["margin"] < 0) == ("beehives", False, True)
    assert one["change"].startswith("it was not a candidate: it shares no word with the goal, and its meaning is ")
    assert "its description lacks" in one["change"]
    assert (other["name"], other["parts"]) == ("broken", [])
    assert other["change"].startswith("it cannot be selected: it is broken")


def test_non_candidates_share_fewer_words_than_the_last_candidate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(80):
        about = (
            "Pull carrots, review the soup, request bread, honey, onions, garlic, code for the oven, roast, bake, stew."
        )
        put(tmp_path / f"skills/reviews-{number}", f"reviews-{number}", about)
    # Near in meaning, and so a candidate, though it shares one word.
    put(
        tmp_path / "skills/patches", "patches", "Judge patches, diffs, commits and merge requests that colleagues send."
    )
    names = [name for number in range(80) for name in ("--why", f"reviews-{number}")]
    assert ended("skills", "select", "--why", "--json", "--top", "1", *names, GOAL) == 0
    changes = [one["change"] for one in json.loads(capsys.readouterr().out)["candidates"]]
    counts = [
        tuple(map(float, found.groups()))
        for change in changes
        if (found := re.search(r"its words count ([\d.]+), those of the last candidate ([\d.]+),", change))
    ]
    assert counts
    assert [(own, last) for own, last in counts if own > last] == []


def test_text_names_the_certain_skills(
    capsys: pytest.CaptureFixture[str],
) -> None:
    goal = "Summarize the meeting notes, then write the weekly report and a decision memo"
    assert ended("skills", "select", "--why", "--json", goal) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["candidates"] if one["selected"]}
    certain = [name for name, one in found.items() if "it is certain" in one["change"]]
    assert 0 < len(certain) < len(found)
    assert ended("skills", "select", "--why", goal) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"{len(found)} skills are selected, {', '.join(certain)} with certainty: {', '.join(found)}."


def test_advice_names_the_part_of_the_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        ended("skills", "select", "--why", "--json", "--top", "30", "Review the diff of the shop. Our cat is black.")
        == 0
    )
    candidates = json.loads(capsys.readouterr().out)["candidates"]
    best = {one["name"]: max(one["parts"], key=lambda part: part["score"])["part"] for one in candidates}
    told = {one["name"]: one["change"] for one in candidates if best[one["name"]] == "Our cat is black."}
    assert told
    assert all("part" in change or "for 'Our cat is black.'" in change for change in told.values()), told


def test_a_named_skill_is_answered_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "select", GOAL, "--why", "code-review") == 0
    out = capsys.readouterr().out
    assert out.startswith("code-review is selected, by ")
    assert out.count("\n") == 1
    assert ended("skills", "select", GOAL, "--why", "decision-memo", "-v") == 0
    sentence, _, block, *_ = capsys.readouterr().out.splitlines()
    assert sentence.startswith("decision-memo is not selected, by ")
    assert block.startswith("decision-memo  0.")


def test_a_named_candidate_is_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        ended(
            "skills", "select", "--why", "--json", "--top", "1", "--why", "decision-memo", "--why", "code-review", GOAL
        )
        == 0
    )
    names = [one["name"] for one in json.loads(capsys.readouterr().out)["candidates"]]
    assert (names.count("code-review"), names[-1]) == (1, "decision-memo")
    assert ended("skills", "select", "--why", "--why", "code-reviews", GOAL) == 2
    assert "known skills: code-review" in capsys.readouterr().err


def test_goal_without_candidates_selects_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "select", "--why", "--detector", "keyword", "Zzyzx") == 0
    ran = capsys.readouterr()
    assert ran.out == f"{NOTHING}\n"
    assert "'keyword' does not explain its scores" in ran.err
    assert ended("skills", "select", "--why", "--detector", "keyword", "-q", "--json", "Zzyzx") == 0
    ran = capsys.readouterr()
    assert (json.loads(ran.out), ran.err) == (
        {"goal": "Zzyzx", "certain": False, "why": NOTHING, "candidates": []},
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["  "], "the goal is empty"), (["--top", "0", "x"], "0"), (["--detector", "nope", "x"], "no detector 'nope'")],
)
def test_wrong_usage_is_an_error(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "select", "--why", *arguments) == 2
    assert said in capsys.readouterr().err


def test_llm_detector_is_explained_by_the_ranking(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "select", "--why", "--detector", "llm", "--json", GOAL) == 0
    assert json.loads(capsys.readouterr().out)["candidates"][0]["name"] == "code-review"


def test_list_marks_preferences_in_text_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decide(tmp_path, 'manual = ["debugging"]\npin = ["decision-memo"]\noff = ["code-review", "code-revue"]')
    assert ended("skills", "list") == 0
    ran = capsys.readouterr()
    lines = {line.split()[0]: line for line in ran.out.splitlines()}
    assert "  [manual] Find the root cause" in lines["debugging"]
    assert "  [pinned] Write a decision memo" in lines["decision-memo"]
    assert "code-review" not in lines
    assert (
        "warning: [skills] off names 'code-revue', and there is no such skill; the nearest names are code-re" in ran.err
    )
    assert ended("skills", "list", "--all", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert (rows["debugging"]["state"], rows["debugging"]["reason"]) == ("active", None)
    assert (rows["code-review"]["state"], rows["code-review"]["reason"]) == ("disabled", "disabled by [skills] off")
    assert ended("skills", "list", "--all") == 0
    assert "code-review              bundled    [disabled by [skills] off] Review" in capsys.readouterr().out


def test_select_leaves_manual_skills_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decide(tmp_path, 'manual = ["code-review"]')
    folder = tmp_path / "skills" / "inner"
    folder.mkdir(parents=True)
    text = "---\nname: inner\ndescription: Kneads dough.\nuser-invocable: false\n---\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    for flags in ([], ["--top", "16"]):
        assert ended("skills", "select", "--json", *flags, GOAL) == 0
        names = [row["name"] for row in json.loads(capsys.readouterr().out)["selected"]]
        assert "code-review" not in names
    assert ended("skills", "select", "--json", "$code-review and $inner for src/") == 0
    ran = capsys.readouterr()
    assert [row["name"] for row in json.loads(ran.out)["selected"]][:1] == ["code-review"]
    assert "warning: the goal names inner, which is not called by name" in ran.err


def test_eval_does_not_select_manual_skills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decide(tmp_path, 'manual = ["code-review"]')
    (tmp_path / "goals.jsonl").write_text(json.dumps({"goal": GOAL, "expected": "code-review"}), encoding="utf-8")
    assert ended("skills", "eval", "goals.jsonl", "--json") == 0
    ran = capsys.readouterr()
    assert "the skill 'code-review' is used only by name and cannot be selected" in ran.err
    assert json.loads(ran.out)["set_recall"] == 0.0
