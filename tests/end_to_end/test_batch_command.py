"""`goalwright batch`, unattended: every goal once, in its own row, whatever happens."""

from __future__ import annotations

import json
import random
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.nursery import Nursery, Process, Ran
from tests.openai_server import Answer, Call, Drop, Fail, OpenAIServer, Say, Script, instruction

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")


def goal_in(call: Call) -> str:
    return call.user.partition("<goal>\n")[2].partition("\n</goal>")[0]


def answering(call: Call) -> Answer:
    """Plans two tasks and answers with the goal itself, so that a row in another's place shows."""
    goal = goal_in(call)
    match call.role:
        case "decomposer":
            tasks = [
                {"id": "a", "action_type": "llm", "instruction": f"first of {goal}"},
                {"id": "b", "action_type": "llm", "instruction": f"second of {goal}", "depends_on": ["a"]},
            ]
            return Say(json.dumps({"tasks": tasks}))
        case _:
            return Say(f"did {instruction(call)}")


def write(path: Path, count: int) -> None:
    lines = [json.dumps({"id": f"g{number}", "goal": f"Goal number {number}"}) for number in range(count)]
    path.write_text("\n".join(lines), encoding="utf-8")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "goals.jsonl", 6)
    return tmp_path


def test_every_goal_has_a_row_with_runs_fields(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering)
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", *MODEL, cwd=folder)
    assert ran.status == 0, ran.err
    summary = json.loads(ran.out)
    assert (summary["goals"], summary["done"], summary["usage"]["calls"]) == (6, 6, 18)
    found = {row["id"]: row for row in rows(folder / "out.jsonl")}
    assert set(found) == {f"g{number}" for number in range(6)}
    for number in range(6):
        row = found[f"g{number}"]
        assert row["answer"] == f"did second of Goal number {number}"
        assert (row["line"], row["status"], row["error"]) == (number + 1, "done", None)
        assert {"run_id", "goal", "skills", "tasks", "usage", "cost_usd", "journal"} <= set(row)
    assert not (folder / "out.jsonl.runs").exists()


def test_an_existing_output_is_not_touched_without_resume(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering)
    (folder / "out.jsonl").write_text("precious", encoding="utf-8")
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", *MODEL, cwd=folder)
    assert ran.status == 2
    assert "error" in json.loads(ran.out)
    assert (folder / "out.jsonl").read_text(encoding="utf-8") == "precious"
    assert server.calls == []


def test_bad_lines_are_all_reported_and_nothing_is_spent(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering)
    lines = ['{"goal": ""}', "{", '{"id": "x", "goal": "a", "skills": ["no-such-skill"]}', '{"id": "x", "goal": "b"}']
    lines.append(
        '{"id": "y", "goal": "c", "plan": {"tasks": [{"id": "a", "action_type": "llm", "depends_on": ["z"]}]}}'
    )
    lines.append(json.dumps({"id": "z", "goal": "long " * 50_000}))
    lines.append('{"id": "w", "goal": "d", "skills": ["inner"]}')
    (folder / "skills/inner").mkdir(parents=True)
    closed = "---\nname: inner\ndescription: Greets the readers.\nuser-invocable: false\n---\nGreet.\n"
    (folder / "skills/inner/SKILL.md").write_text(closed, encoding="utf-8")
    (folder / "bad.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = goalwright("batch", "bad.jsonl", "-o", "out.jsonl", "--json", *MODEL, cwd=folder)
    assert ran.status == 2
    message = json.loads(ran.out)["error"]["message"]
    for text in (
        "line 1",
        "line 2",
        "line 3: there is no skill 'no-such-skill'",
        "line 4: duplicate id 'x'",
        "line 5: its plan",
        "line 6: the goal has 250,000 characters",
        "line 7: the skill 'inner' is not called by name",
    ):
        assert text in message
    assert server.calls == []
    assert not (folder / "out.jsonl").exists()


def test_one_goals_failure_touches_no_other_and_can_be_retried(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    broken = [True]

    def script(call: Call) -> Answer:
        if broken[0] and goal_in(call) == "Goal number 3":
            return Fail(400, "not this one")
        return answering(call)

    server = serve(script)
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", *MODEL, cwd=folder)
    assert ran.status == 1
    assert Counter(row["status"] for row in rows(folder / "out.jsonl")) == {"done": 5, "failed": 1}
    failed = next(row for row in rows(folder / "out.jsonl") if row["status"] == "failed")
    assert (failed["id"], failed["error_code"]) == ("g3", "REQUEST_REFUSED")
    assert failed["run_id"]
    assert failed["journal"].startswith("sqlite:///")
    server.calls.clear()
    assert goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--resume", "--json", *MODEL, cwd=folder).status == 1
    assert server.calls == []
    again = goalwright(
        "batch", "goals.jsonl", "-o", "out.jsonl", "--resume", "--retry-errors", "--json", *MODEL, cwd=folder
    )
    assert again.status == 1
    still = next(row for row in rows(folder / "out.jsonl") if row["status"] == "failed")
    assert (still["run_id"], still["journal"]) == (failed["run_id"], failed["journal"])
    server.calls.clear()
    broken[0] = False
    ran = goalwright(
        "batch", "goals.jsonl", "-o", "out.jsonl", "--resume", "--retry-errors", "--json", *MODEL, cwd=folder
    )
    assert ran.status == 0, ran.err
    assert {goal_in(call) for call in server.calls} == {"Goal number 3"}
    assert sorted(row["id"] for row in rows(folder / "out.jsonl")) == [f"g{number}" for number in range(6)]
    assert {row["status"] for row in rows(folder / "out.jsonl")} == {"done"}


def test_failures_that_stand_apart_are_left_and_retried_also_where_their_file_is_not_named_again(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(lambda call: Fail(400, "no") if goal_in(call) == "Goal number 3" else answering(call))
    arguments = ["batch", "goals.jsonl", "-o", "out.jsonl", "--json", *MODEL]
    assert goalwright(*arguments, "--errors", "errors.jsonl", cwd=folder).status == 1
    server = serve(answering)
    ran = goalwright(*arguments, "--resume", cwd=folder)
    assert (ran.status, server.calls) == (1, []), "a failed goal is left as it is"
    assert "errors.jsonl, as before" in ran.err
    assert json.loads(ran.out)["skipped_not_done"] == 1
    assert [row["id"] for row in rows(folder / "errors.jsonl")] == ["g3"]
    ran = goalwright(*arguments, "--resume", "--errors", "./errors.jsonl", cwd=folder)
    assert (ran.status, server.calls, len(rows(folder / "errors.jsonl"))) == (1, [], 1)
    ran = goalwright(*arguments, "--resume", "--retry-errors", cwd=folder)
    assert ran.status == 0, ran.err
    assert {goal_in(call) for call in server.calls} == {"Goal number 3"}
    assert sorted(row["id"] for row in rows(folder / "out.jsonl")) == [f"g{number}" for number in range(6)]
    assert rows(folder / "errors.jsonl") == []
    assert not (folder / "out.jsonl.runs").exists()


def test_a_journal_that_cannot_be_used_is_said_before_any_goal_is_begun(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(answering)
    (folder / "bad.db").write_text("no database, but long enough to be looked at as one" * 20, encoding="utf-8")
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", "--journal", "bad.db", *MODEL, cwd=folder)
    assert ran.status == 2
    assert "cannot be used" in json.loads(ran.out)["error"]["message"]
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith("out")) == []
    assert server.calls == []


def test_half_a_character_in_an_answer_harms_nobody(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    def script(call: Call) -> Answer:
        answer = answering(call)
        assert isinstance(answer, Say)
        return Say(answer.text.replace("second of", "second \ud83d of"))

    serve(script)
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", *MODEL, cwd=folder)
    assert ran.status == 0, ran.err
    assert sorted(row["answer"] for row in rows(folder / "out.jsonl"))[0] == "did second \ufffd of Goal number 0"


def test_a_changed_goal_is_refused_unless_asked_for(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering)
    assert goalwright("batch", "goals.jsonl", "-o", "out.jsonl", *MODEL, cwd=folder).status == 0
    text = (folder / "goals.jsonl").read_text(encoding="utf-8").replace("Goal number 2", "Another goal")
    (folder / "goals.jsonl").write_text(text, encoding="utf-8")
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--resume", "--json", *MODEL, cwd=folder)
    assert ran.status == 2
    assert "g2" in json.loads(ran.out)["error"]["message"]
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--resume", "--rerun-changed", *MODEL, cwd=folder)
    assert ran.status == 0, ran.err
    answers = {row["id"]: row["answer"] for row in rows(folder / "out.jsonl")}
    assert len(answers) == 6
    assert answers["g2"] == "did second of Another goal"


def test_a_budget_and_failures_stop_a_batch_that_can_go_on(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    def long(call: Call) -> Answer:
        answer = answering(call)
        assert isinstance(answer, Say)
        return replace(answer, tokens=(6_000, 5))

    server = serve(long)
    limits = ("--jobs", "1", "--max-tokens", "40000", "--json")
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", *limits, *MODEL, cwd=folder)
    assert ran.status == 5
    assert json.loads(ran.out)["usage"]["calls"] == len(server.calls), "those of the goal that was stopped count too"
    assert "--resume" in ran.err
    kept = rows(folder / "out.jsonl")
    assert 0 < len(kept) < 6
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--resume", *MODEL, cwd=folder)
    assert ran.status == 0, ran.err
    assert sorted(row["id"] for row in rows(folder / "out.jsonl")) == [f"g{number}" for number in range(6)]
    serve(lambda _: Fail(400, "no"))
    ran = goalwright("batch", "goals.jsonl", "-o", "two.jsonl", "--jobs", "1", "--fail-fast", *MODEL, cwd=folder)
    assert ran.status == 1
    assert len(rows(folder / "two.jsonl")) == 1


def test_a_batch_whose_goals_have_all_ended_was_not_stopped_by_their_failures(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(lambda _: Fail(400, "no"))
    write(folder / "goals.jsonl", 1)
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--fail-fast", "--json", *MODEL, cwd=folder)
    summary = json.loads(ran.out)
    assert (ran.status, summary["failed"], summary["left"], summary["stopped"]) == (1, 1, 0, None)
    assert "Continue with" not in ran.err, "nothing is left that --resume could run"


def test_a_budget_too_small_for_one_call_is_raised_in_the_command_that_continues(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(answering)
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--max-tokens", "300", "--json", *MODEL, cwd=folder)
    assert (ran.status, server.calls) == (5, [])
    reason = json.loads(ran.out)["reason"]
    assert reason.startswith("stopped at 0 of 300 tokens (max_tokens): the prompt of the next call may take ")
    assert f"{reason.capitalize()}. Continue with:" in ran.err
    command = shlex.split(ran.err.splitlines()[-1])
    assert int(command[command.index("--max-tokens") + 1]) > 600
    again = goalwright(*command[1:], cwd=folder)
    assert server.calls, again.err


def test_parallel_goals_share_a_budget_that_holds(tmp_path: Path, serve: Serve, goalwright: Goalwright) -> None:
    write(tmp_path / "goals.jsonl", 16)
    spent: list[int] = []

    def script(call: Call) -> Answer:
        tokens = 1 if call.role == "decomposer" else min(20_000, call.body["max_tokens"])
        spent.append(tokens)
        answer = answering(call)
        assert isinstance(answer, Say)
        return replace(answer, tokens=(1, tokens), after=0.01)

    serve(script)
    goals = ("goals.jsonl", "-o", "out.jsonl", "--jobs", "16", "--max-cost", "0.5")
    ran = goalwright("batch", *goals, "--model", "openai/gpt-4o", cwd=tmp_path)
    assert ran.status == 5, ran.err
    assert 0.25 < sum(spent) * 10e-6 <= 0.5
    assert all(row["status"] == "done" for row in rows(tmp_path / "out.jsonl"))


@pytest.mark.slow
def test_a_flaky_provider_does_not_keep_any_goal_from_being_done(
    tmp_path: Path, serve: Serve, goalwright: Goalwright
) -> None:
    write(tmp_path / "goals.jsonl", 12)
    dice = random.Random(3)
    may_come: dict[str, float] = {}
    early: list[str] = []

    def script(call: Call) -> Answer:
        key = json.dumps(call.body["messages"])
        if call.at < may_come.get(key, 0.0):
            early.append(key)
        throw = dice.random()
        if throw < 0.05:
            return Fail(500)
        if throw < 0.07:
            return Drop()
        if throw < 0.37:
            may_come[key] = call.at + 0.3
            return Fail(429, "slow down", {"Retry-After": "0.3"})
        return answering(call)

    serve(script)
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", "--jobs", "10", *MODEL, cwd=tmp_path)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["done"] == 12
    assert early == []


def test_calls_keep_to_rpm(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering)
    assert goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--rpm", "600", "-q", *MODEL, cwd=folder).status == 0
    at = sorted(call.at for call in server.calls)
    assert len(at) == 18
    assert at[-1] - at[0] > 1.5


def test_identical_calls_are_made_once(tmp_path: Path, serve: Serve, goalwright: Goalwright) -> None:
    (tmp_path / "goals.txt").write_text("Same goal\n" * 5, encoding="utf-8")
    server = serve(answering)
    ran = goalwright("batch", "goals.txt", "-o", "out.jsonl", "--dedupe", "--json", *MODEL, cwd=tmp_path)
    assert ran.status == 0, ran.err
    assert len(server.calls) == 3
    assert len(rows(tmp_path / "out.jsonl")) == 5


def test_a_model_that_does_not_exist_is_asked_by_no_more_goals_than_begin_at_once(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(lambda call: Fail(404, "no such") if call.body["model"] == "gone" else answering(call))
    models = ("--model", "openai/gone", "--fallback", "openai/there")
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", "--json", "--jobs", "2", *models, cwd=folder)
    assert (ran.status, json.loads(ran.out)["done"]) == (0, 6), ran.err
    asked = Counter(call.body["model"] for call in server.calls)
    assert asked["there"] == 18
    assert 1 <= asked["gone"] <= 2


def test_a_limited_sitting_leaves_what_lies_beyond_it_as_it_was(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(lambda call: Fail(400, "no") if goal_in(call) in ("Goal number 0", "Goal number 5") else answering(call))
    arguments = ["goals.jsonl", "-o", "out.jsonl", "--json", *MODEL]
    assert goalwright("batch", *arguments, cwd=folder).status == 1
    server = serve(answering)
    assert goalwright("batch", *arguments, "--resume", "--retry-errors", "--limit", "3", cwd=folder).status == 0
    assert {goal_in(call) for call in server.calls} == {"Goal number 0"}
    found = {row["id"]: row["status"] for row in rows(folder / "out.jsonl")}
    assert found == {f"g{number}": "done" for number in range(5)} | {"g5": "failed"}


def test_a_limit_counts_the_goals_of_earlier_sittings(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering)
    arguments = ["goals.jsonl", "-o", "out.jsonl", "--shuffle", *MODEL]
    assert goalwright("batch", *arguments, "--limit", "2", cwd=folder).status == 0
    first = {row["id"] for row in rows(folder / "out.jsonl")}
    server.calls.clear()
    ran = goalwright("batch", *arguments, "--limit", "2", "--resume", cwd=folder)
    assert (ran.status, server.calls) == (0, [])
    assert "--limit 2 counts those with a result. Raise it, or leave it out" in ran.err
    ran = goalwright("batch", *arguments, "--limit", "4", "--resume", cwd=folder)
    assert (ran.status, "4 goals: 2 done, 2 from before" in ran.out) == (0, True)
    assert first < {row["id"] for row in rows(folder / "out.jsonl")}
    assert len(rows(folder / "out.jsonl")) == 4


def test_models_that_goals_name_are_checked_first_and_no_other_is_needed(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    (folder / "goals.jsonl").write_text('{"goal": "x", "model": "openai/own", "modle": "typo"}\n', encoding="utf-8")
    server = serve(answering)
    (folder / "keyless.jsonl").write_text('{"goal": "x", "model": "anthropic/own"}\n', encoding="utf-8")
    ran = goalwright("batch", "keyless.jsonl", "-o", "out.jsonl", "--json", *MODEL, cwd=folder)
    assert (ran.status, server.calls, (folder / "out.jsonl").exists()) == (4, [], False)
    assert "anthropic/own" in json.loads(ran.out)["error"]["message"]
    ran = goalwright("batch", "goals.jsonl", "-o", "out.jsonl", cwd=folder)
    assert (ran.status, {call.body["model"] for call in server.calls}) == (0, {"own"}), ran.err
    assert "unknown key 'modle'" in ran.err
    assert "1 goal: 1 done\n" in ran.out


def test_a_key_of_a_goals_plan_that_means_nothing_is_warned_of(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(answering)
    plan = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "x", "color": "red"}]}
    (folder / "goals.jsonl").write_text(json.dumps({"goal": "y", "plan": plan}), encoding="utf-8")
    assert goalwright("batch", "goals.jsonl", "-o", "out.jsonl", *MODEL, cwd=folder).status == 0
    said = "the plan was repaired: task 'a': the unknown key 'color' was dropped"
    assert rows(folder / "out.jsonl")[0]["warnings"] == [said]
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert said in goalwright("run", "--plan", "plan.json", "--dry-run", *MODEL, cwd=folder).err


def test_a_dry_run_counts_what_would_run_and_makes_no_call(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering)
    plan = {"tasks": [{"id": name, "action_type": "llm", "instruction": "x"} for name in "abc"], "synthesis": "join"}
    lines = [{"goal": "x"}, {"goal": "y", "plan": plan}, {"goal": "z"}]
    (folder / "goals.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ran = goalwright("batch", "goals.jsonl", "-o", "o.jsonl", "--dry-run", "--json", "--limit", "2", *MODEL, cwd=folder)
    assert ran.status == 0, ran.err
    assert (json.loads(ran.out)["goals"], json.loads(ran.out)["calls"], server.calls) == (2, 2 + 4, [])
    assert not (folder / "o.jsonl").exists()


def test_a_dry_run_of_a_resumed_batch_leaves_out_what_has_a_result_and_touches_nothing(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(lambda call: Fail(400) if "Goal number 2" in call.user else answering(call))
    write(folder / "goals.jsonl", 5)
    batch = ("batch", "goals.jsonl", "-o", "out.jsonl")
    assert goalwright(*batch, "--limit", "3", *MODEL, cwd=folder).status == 1
    with (folder / "out.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "half a li')  # as another batch may be writing it
    before, calls = (folder / "out.jsonl").read_bytes(), len(server.calls)

    def previewed(*more: str) -> tuple[int, int]:
        ran = goalwright(*batch, "--dry-run", "--resume", "--json", *more, *MODEL, cwd=folder)
        assert ran.status == 0, ran.err
        return json.loads(ran.out)["goals"], json.loads(ran.out)["skipped"]

    assert previewed() == (2, 3)
    assert previewed("--retry-errors") == (3, 2)
    assert previewed("--limit", "4") == (1, 3)
    shown = goalwright(*batch, "--dry-run", "--resume", *MODEL, cwd=folder).out
    assert "3 other goals skipped, with a result from before." in shown
    assert ((folder / "out.jsonl").read_bytes(), len(server.calls)) == (before, calls)
    needed = goalwright("batch", "goals.jsonl", "--dry-run", "--resume", *MODEL, cwd=folder)
    assert (needed.status, needed.err.splitlines()[0]) == (2, "error: Missing option '-o' / '--output'.")


def test_a_dry_run_shows_goals_without_a_skill_and_with_v_all(
    workspace: Path, serve: Serve, goalwright: Goalwright
) -> None:
    serve(answering)
    matching, others = "Write API documentation for the service", [f"Hum tune number {n}" for n in range(12)]
    (workspace / "goals.txt").write_text("\n".join([matching, *others]), encoding="utf-8")
    ran = goalwright("batch", "goals.txt", "--dry-run", *MODEL, cwd=workspace)
    assert ran.status == 0, ran.err
    _, _, shown = ran.out.partition("Goals without a matching skill:\n")
    lines = [f"  line-{n + 2}: {goal}" for n, goal in enumerate(others[:10])]
    assert shown.splitlines() == [*lines, "  and 2 more; -v shows all goals"]
    verbose = goalwright("batch", "goals.txt", "--dry-run", "-v", *MODEL, cwd=workspace).out
    assert verbose.startswith(f"line-1: {matching} → cataloging-apis\nline-2: {others[0]} → no skill\n")
    assert others[-1] in verbose
    found = json.loads(goalwright("batch", "goals.txt", "--dry-run", "-v", "--json", *MODEL, cwd=workspace).out)
    assert found.keys() == {"goals", "without_skill", "skills", "calls"}
    needed = goalwright("batch", "goals.txt", *MODEL, cwd=workspace)
    assert (needed.status, needed.err.splitlines()[0]) == (2, "error: Missing option '-o' / '--output'.")


def test_the_help_says_what_limits_are_for(goalwright: Goalwright) -> None:
    said = " ".join(goalwright("batch", "--help").out.split())
    for text in (
        "Stop each goal after this time.",
        "Budget of the whole batch in US dollars, counted anew by --resume.",
    ):
        assert text in said
    assert "that the run may" not in said


def test_what_is_counted_has_a_heading(workspace: Path, serve: Serve, goalwright: Goalwright) -> None:
    (workspace / "goals.txt").write_text("Write API documentation for the service\n", encoding="utf-8")
    serve(answering)
    for more in (["--dry-run"], []):
        ran = goalwright("batch", "goals.txt", "-o", "out.jsonl", *more, *MODEL, cwd=workspace)
        assert "Goals by selected skill:\n      1  cataloging-apis" in ran.out, ran.err


@pytest.mark.parametrize(
    "extra", [["--max-failures", "some"], ["--retry-errors"], ["--jobs", "0"], ["--errors", "./out.jsonl"]]
)
def test_wrong_usage_is_said(folder: Path, goalwright: Goalwright, extra: list[str]) -> None:
    assert goalwright("batch", "goals.jsonl", "-o", "out.jsonl", *extra, *MODEL, cwd=folder).status == 2


def start(nursery: Nursery, folder: Path, *more: str) -> Process:
    command = ["-m", "goalwright", "batch", "goals.jsonl", "-o", "out.jsonl", "-q", *more, *MODEL]
    return nursery.start(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(server: OpenAIServer, calls: int) -> None:
    deadline = time.monotonic() + 60
    while len(server.calls) < calls and time.monotonic() < deadline:
        time.sleep(0.02)


def test_ctrl_c_finishes_what_is_under_way_and_says_how_to_go_on(
    tmp_path: Path, serve: Serve, nursery: Nursery
) -> None:
    write(tmp_path / "goals.jsonl", 60)
    interrupted = threading.Event()

    def script(call: Call) -> Answer:
        if len(server.calls) > 20:
            interrupted.wait(60)  # no call is answered until then, so most goals have not begun
        return answering(call)

    server = serve(script)
    process = start(nursery, tmp_path, "--jobs", "8")
    wait_for(server, 20)
    process.send_signal(signal.SIGINT)
    interrupted.set()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "--resume" in err
    kept = rows(tmp_path / "out.jsonl")
    assert 0 < len(kept) < 60
    assert {row["status"] for row in kept} == {"done"}
