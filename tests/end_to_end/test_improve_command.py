"""`goalwright skills compare` and `skills improve` with a scripted model that follows the skill's text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import add_skill
from tests.evaluated import SKILL, TEXT, answering, letters, schema_of, write_cases
from tests.nursery import Ran
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Nursery

pytestmark = pytest.mark.slow

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
SPEND = ("--max-cost", "5", "--allow-unknown-cost")
STEP = "Begin with a greeting."
GOOD = f"{STEP}\nClose with a signature."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    add_skill(tmp_path, SKILL, TEXT)
    return tmp_path


def signs(goal: str, system: str) -> str:
    """A letter that is signed if the skill says so, and rude if it says that."""
    if "rude" in system:
        return "Go away."
    return f"About: {goal}" + (" Yours, Goalwright" if "signature" in system else "")


def signed(count: int) -> list[dict[str, Any]]:
    """Cases that pass if the letter is signed."""
    return [
        case | {"checks": [{"contains": "Yours"}], "tags": [["a", "b"][case["id"][-1] > "4"]]}
        for case in letters(count)
    ]


def is_proposal(call: Call) -> bool:
    return "old" in schema_of(call).get("properties", {}) or "<skill>" in call.user


def proposing(*edits: dict[str, str], judge: Callable[[Call], str] | None = None) -> Script:
    """Proposes these edits in turn."""
    left = list(edits)
    work = answering(signs, judge)

    def script(call: Call) -> Answer:
        if is_proposal(call):
            return Say(json.dumps(left.pop(0) if len(left) > 1 else left[0]))
        return work(call)

    return script


def edit(new: str, old: str = STEP, why: str = "because") -> dict[str, str]:
    return {"old": old, "new": new, "why": why}


def improved(goalwright: Goalwright, folder: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    ran = goalwright("skills", "improve", SKILL, "--cases", "cases.jsonl", *MODEL, "--json", *arguments, cwd=folder)
    assert ran.status == status, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


def test_helpful_edit_is_accepted_and_written_only_on_request(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(proposing(edit(GOOD)))
    write_cases(folder / "cases.jsonl", *signed(9))
    found = improved(goalwright, folder, *SPEND, "--repeat", "1")
    assert found["accepted"] is True, found
    assert "+Close with a signature." in found["patch"]
    assert found["rounds"] == [{"edit": edit(GOOD), "accepted": True, "gate": None, "reason": "because"}]
    assert found["working"] == found["held_out"] == {"before": 0.0, "after": 1.0}
    file = folder / "skills" / SKILL / "SKILL.md"
    assert file.read_text(encoding="utf-8") == TEXT
    (asked,) = [call for call in server.calls if is_proposal(call)]
    held = {row for row in range(9) if f"customer {row}" not in asked.user}
    assert len(held) == 3, "the model does not see the cases that are held out"
    subprocess.run(["git", "apply", "--check", "-"], cwd=folder, input=found["patch"], text=True, check=True)
    improved(goalwright, folder, *SPEND, "--repeat", "1", "--apply", "--yes")
    assert GOOD in file.read_text(encoding="utf-8")


def test_changed_file_is_not_overwritten(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    file = folder / "skills" / SKILL / "SKILL.md"
    work = proposing(edit(GOOD))

    def script(call: Call) -> Answer:
        if is_proposal(call):
            file.write_text(f"{TEXT}\nBe brief.\n", encoding="utf-8")
        return work(call)

    serve(script)
    write_cases(folder / "cases.jsonl", *signed(9))
    arguments = ["--cases", "cases.jsonl", *MODEL, *SPEND, "--repeat", "1", "--json", "--apply", "--yes"]
    ran = goalwright("skills", "improve", SKILL, *arguments, cwd=folder)
    assert ran.status == 2, ran.err
    assert "+Close with a signature." in json.loads(ran.out)["patch"]
    assert "has changed meanwhile" in ran.err
    assert file.read_text(encoding="utf-8") == f"{TEXT}\nBe brief.\n"


def test_edit_of_several_lines_fits_other_line_ends(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    old = f"# Polite letters\n\n{STEP}"
    server = serve(proposing(edit(f"{old}\nClose with a signature.", old=old)))
    write_cases(folder / "cases.jsonl", *signed(9))
    file = folder / "skills" / SKILL / "SKILL.md"
    before = TEXT.replace("\n", "\r\n").encode()
    file.write_bytes(before)
    arguments = ["--cases", "cases.jsonl", *MODEL, *SPEND, "--repeat", "1", "--apply", "--yes"]
    ran = goalwright("skills", "improve", SKILL, *arguments, cwd=folder)
    assert ran.status == 0, ran.err
    assert file.read_bytes() == before.replace(STEP.encode(), f"{STEP}\r\nClose with a signature.".encode()), ran.out
    (asked,) = [call for call in server.calls if is_proposal(call)]
    assert old in asked.user


def test_a_skill_that_fails_its_check_is_refused_before_any_call(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(proposing(edit(GOOD)))
    write_cases(folder / "cases.jsonl", *signed(9))
    file = folder / "skills" / SKILL / "SKILL.md"
    file.write_bytes(before := TEXT.encode() + b"caf\xe9 \xc3\xa9\n")
    arguments = ["--cases", "cases.jsonl", *MODEL, *SPEND, "--apply", "--yes"]
    ran = goalwright("skills", "improve", SKILL, *arguments, cwd=folder)
    assert (ran.status, "is not UTF-8 text" in ran.err) == (2, True), ran.err
    assert (server.calls, file.read_bytes()) == ([], before)


def test_refusals_are_shown_to_the_next_round(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    gaming = edit(f"{STEP}\nAlways write that the letter is signed by the sender.")
    bad_form = edit("name: other-name", old="name: polite-letters")
    harmful = edit("Be rude.")
    useless = edit(f"{STEP}\nUse short sentences.")
    server = serve(
        proposing(bad_form, gaming, harmful, useless, judge=lambda _: '{"passed": true, "evidence": "About"}')
    )
    cases = signed(6)
    cases += [case | {"checks": [{"contains": "About"}]} for case in letters(3, start=20)]
    cases[0]["expectations"] = ["The letter is signed by the sender"]
    write_cases(folder / "cases.jsonl", *cases)
    found = improved(goalwright, folder, *SPEND, "--repeat", "1", "--rounds", "4")
    assert [row["gate"] for row in found["rounds"]] == ["check", "judge-text", "working", "held-out"]
    assert (found["accepted"], found["patch"]) == (False, None)
    assert "frontmatter" in found["rounds"][0]["reason"]
    last = [call for call in server.calls if is_proposal(call)][-1]
    assert "Be rude." in last.user
    assert 'by="working"' in last.user


def test_fewer_than_nine_cases_are_refused_and_a_budget_is_asked_for(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(proposing(edit(GOOD)))
    write_cases(folder / "cases.jsonl", *signed(8))
    ran = goalwright("skills", "improve", SKILL, "--cases", "cases.jsonl", *MODEL, *SPEND, cwd=folder)
    assert (ran.status, "9 are needed" in ran.err) == (2, True)
    unchecked = [case | {"checks": []} for case in letters(4, start=20)]
    write_cases(folder / "cases.jsonl", *signed(8), *unchecked)
    ran = goalwright("skills", "improve", SKILL, "--cases", "cases.jsonl", *MODEL, *SPEND, cwd=folder)
    assert (ran.status, "12 cases, of which 8 have checks" in ran.err) == (2, True), ran.err
    write_cases(folder / "cases.jsonl", *signed(9))
    ran = goalwright("skills", "improve", SKILL, "--cases", "cases.jsonl", *MODEL, cwd=folder)
    assert (ran.status, "--max-cost is missing" in ran.err) == (2, True)
    assert server.calls == []


def test_a_budget_of_tokens_counts_over_all_steps(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    work = proposing(edit(GOOD))

    def script(call: Call) -> Answer:
        said = work(call)
        return Say(said.text, tokens=(1_000, 500)) if isinstance(said, Say) else said

    server = serve(script)
    write_cases(folder / "cases.jsonl", *signed(9))
    arguments = ["--cases", "cases.jsonl", *MODEL, "--repeat", "1", "--jobs", "1", "--yes", "--max-tokens", "40000"]
    ran = goalwright("skills", "improve", SKILL, *arguments, cwd=folder)
    assert ran.status == 5, ran.err
    assert any(map(is_proposal, server.calls)), "the first step leaves something of it"
    assert len(server.calls) * 1_500 <= 40_000
    assert "of 40,000 tokens" in ran.err
    assert "the prompt of the next call may take" in ran.err
    assert "raise --max-tokens to continue, with --resume" in ran.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_during_a_proposal_sends_no_further_call(
    number: signal.Signals, folder: Path, serve: Serve, nursery: Nursery
) -> None:
    answered = threading.Event()

    def script(call: Call) -> Answer:
        return Say(json.dumps(edit(GOOD)), once=answered) if is_proposal(call) else answering(signs)(call)

    server = serve(script)
    write_cases(folder / "cases.jsonl", *signed(9))
    arguments = ["--cases", "cases.jsonl", *MODEL, *SPEND, "--repeat", "1", "--json", "--apply", "--yes"]
    process = nursery.start(
        ["-m", "goalwright", "skills", "improve", SKILL, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=-3,
        env=dict(os.environ),
    )
    while process.poll() is None and not any(map(is_proposal, server.calls)):
        time.sleep(0.02)
    calls = len(server.calls)
    os.kill(process.pid, number)
    try:
        out, _ = process.communicate(timeout=60)
    finally:
        answered.set()
    assert (process.returncode, json.loads(out)["error"]["code"]) == (130, "INTERRUPTED")
    assert len(server.calls) == calls
    assert (folder / "skills" / SKILL / "SKILL.md").read_text(encoding="utf-8") == TEXT


def test_skill_is_compared_with_its_absence_after_a_free_preview(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(answering(signs))
    assert goalwright("run", *MODEL, "Write a polite letter to a customer", cwd=folder).status == 0
    (folder / "skills" / SKILL / "SKILL.md").write_text(TEXT.replace(STEP, GOOD), encoding="utf-8")
    write_cases(folder / "cases.jsonl", *signed(6))
    ran = goalwright(
        "skills", "compare", SKILL, "--cases", "cases.jsonl", *MODEL, "--repeat", "1", "--json", cwd=folder
    )
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert [row["name"] for row in found["variants"]] == ["without", "with"]
    assert (found["differences"][0]["verdict"], found["differences"][0]["mean"]) == ("helps", 1.0)
    assert found["free"]["prompts"] == {"tasks": 1, "runs": 1}
    assert [row["before"] for row in found["free"]["selections"]] == [[]] or SKILL in str(found["free"]["selections"])
    assert "recorded goal" in ran.err


def commit(folder: Path) -> None:
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)


def test_only_a_changed_version_changes_prompts_on_record(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(signs))
    commit(folder)
    assert goalwright("run", *MODEL, "Write a polite letter to a customer", cwd=folder).status == 0
    by_old = ["--skills-dir", "skills", "Write a polite letter to another customer"]
    assert goalwright("run", *MODEL, *by_old, cwd=folder).status == 0

    def changed(old: str) -> dict[str, int]:
        ran = goalwright("skills", "compare", SKILL, "--old", old, *MODEL, "--free", "--json", cwd=folder)
        assert ran.status == 0, ran.err
        prompts: dict[str, int] = json.loads(ran.out)["free"]["prompts"]
        return prompts

    nothing = {"tasks": 0, "runs": 0}
    assert changed("HEAD") == nothing
    file = folder / "skills" / SKILL / "SKILL.md"
    file.write_text(TEXT.replace("every letter", "any letter"), encoding="utf-8")
    assert changed("HEAD") == nothing, "no task prompt contains the description"
    file.write_text(TEXT.replace(STEP, GOOD), encoding="utf-8")
    assert changed("HEAD") == {"tasks": 2, "runs": 2}
    add_skill(folder / "backup", SKILL, TEXT.replace(STEP, GOOD))
    assert changed(f"backup/skills/{SKILL}") == nothing, "both differ from the record in the same way"


def test_an_old_version_is_taken_from_git_or_a_folder(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(signs))
    commit(folder)
    (folder / "skills" / SKILL / "SKILL.md").write_text(TEXT.replace(STEP, "Be rude."), encoding="utf-8")
    cases = [case | {"checks": [{"contains": "About"}]} for case in letters(6)]
    write_cases(folder / "cases.jsonl", *cases)
    arguments = ["--cases", "cases.jsonl", *MODEL, "--repeat", "1", "--json"]
    ran = goalwright("skills", "compare", SKILL, "--old", "HEAD", *arguments, cwd=folder)
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert [(row["name"], row["pass_rate"]) for row in found["variants"]] == [("old", 1.0), ("new", 0.0)]
    assert found["differences"][0]["verdict"] == "hurts"
    run = found["rows"][0]["run_id"]
    assert json.loads(goalwright("replay", run, "--strict", "--json", cwd=folder).out)["drift"] == []
    ran = goalwright("skills", "compare", SKILL, "--old", "no-such-ref", *arguments, cwd=folder)
    assert (ran.status, "neither a path nor known to git" in ran.err) == (2, True)
    ran = goalwright("skills", "compare", "no-skill", *arguments, cwd=folder)
    assert (ran.status, "there is no skill" in ran.err) == (2, True)


def test_other_skills_are_kept_beside_another_version(tmp_path: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(proposing(edit(GOOD)))
    mine, work = tmp_path / "mine" / "skills", tmp_path / "work"
    work.mkdir()
    add_skill(tmp_path / "mine", f"letters/{SKILL}", TEXT)
    contracts = "---\nname: formal-contracts\ndescription: Draw up formal contracts with suppliers.\n---\nBe exact.\n"
    add_skill(tmp_path / "mine", "formal-contracts", contracts)
    add_skill(tmp_path / "old", SKILL, TEXT)
    env = {"GOALWRIGHT_SKILLS_DIR": str(mine)}
    goal = "Draw up a formal contract with a supplier, and a polite letter to a customer"
    ran = goalwright("run", *MODEL, "--json", goal, cwd=work, env=env)
    assert set(json.loads(ran.out)["skills"]) == {SKILL, "formal-contracts"}, ran.err
    old = str(tmp_path / "old" / "skills" / SKILL)
    ran = goalwright("skills", "compare", SKILL, "--old", old, *MODEL, "--free", "--json", cwd=work, env=env)
    assert json.loads(ran.out)["free"]["selections"] == [], ran.err
    write_cases(work / "cases.jsonl", *signed(9))
    arguments = ["--cases", "cases.jsonl", *MODEL, *SPEND, "--repeat", "1", "--json", "--apply", "--yes"]
    ran = goalwright("skills", "improve", SKILL, *arguments, cwd=work, env=env)
    assert json.loads(ran.out)["accepted"] is True, ran.out
    assert GOOD in (mine / "letters" / SKILL / "SKILL.md").read_text(encoding="utf-8")


def test_skills_dir_takes_precedence_over_the_workspace(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(signs))
    other = folder / "elsewhere"
    add_skill(other, SKILL, TEXT.replace(STEP, GOOD))
    goal = ["--skill", SKILL, *MODEL, "--json", "Write a letter"]
    plain = json.loads(goalwright("run", *goal, cwd=folder).out)
    ran = goalwright("run", "--skills-dir", "elsewhere/skills", *goal, cwd=folder)
    assert ran.status == 0, ran.err
    assert ("Yours" in plain["answer"], "Yours" in json.loads(ran.out)["answer"]) == (False, True)
    named = goalwright("skills", "list", "--json", cwd=folder, env={"GOALWRIGHT_SKILLS_DIR": str(other / "skills")})
    assert str(other) in named.out
    assert goalwright("run", "--skills-dir", "gone", *goal, cwd=folder).status == 2
    off = json.loads(
        goalwright("run", "--without", SKILL, "-c", "max_tasks=1", *MODEL, "--json", "Write a letter", cwd=folder).out
    )
    assert off["skills"] == []
    assert goalwright("run", "-c", "max_taskz=1", *goal, cwd=folder).status == 2
