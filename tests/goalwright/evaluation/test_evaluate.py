"""Whole evaluations as a program makes them: killed and resumed, and calibrated end to end."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright import BatchOptions, EvaluationOptions, evaluate
from tests.conftest import add_skill
from tests.evaluated import SKILL, TEXT, answering, goal_of, is_judge, letters, write_cases
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Nursery, Ran

pytestmark = pytest.mark.slow

Serve = Callable[[Script], OpenAIServer]
MODEL = "openai/test-model"


def asked(server: OpenAIServer) -> Counter[str]:
    """How often each request was made."""
    return Counter(json.dumps(call.body["messages"]) for call in server.calls)


def holding(script: Script, held: list[Call], until: threading.Event, *, answered: int) -> Script:
    """Answers so many calls at once, and holds the others."""
    left = iter(range(answered))

    def answer(call: Call) -> Answer:
        said = script(call)
        assert isinstance(said, Say)
        if next(left, None) is not None:
            return said
        held.append(call)
        return replace(said, once=until)

    return answer


def kept(workspace: Path) -> int:
    """How many answers of a model are in the journal."""
    said = "SELECT count(*) FROM events WHERE type IN ('call_finished', 'answer_judged')"
    try:
        with closing(sqlite3.connect(f"file:{workspace}/.agents/journal.sqlite?mode=ro", uri=True)) as journal:
            ((found,),) = journal.execute(said)
    except sqlite3.OperationalError:  # it is not there yet, or is being made
        return 0
    return int(found)


def test_killed_evaluation_resumes_without_paying_twice(
    tmp_path: Path, serve: Serve, nursery: Nursery, goalwright: Callable[..., Ran]
) -> None:
    def judge(call: Call) -> str:
        return json.dumps({"passed": "Dear" in call.user, "evidence": "About"})

    def greets(goal: str, system: str) -> str:
        return f"{'Dear Ann. ' if 'Polite' in system else ''}About: {goal}"

    for name in ("whole", "killed"):
        add_skill(tmp_path / name, SKILL, TEXT)
        cases = [case | {"expectations": ["It is kind"]} for case in letters(6)]
        write_cases(tmp_path / name / "cases.jsonl", *cases)
    variants = ("--variant", f"without=--without {SKILL}", "--variant", f"with=--skill {SKILL}")
    arguments = ["eval", "cases.jsonl", "--model", MODEL, *variants, "--repeat", "1", "--jobs", "2"]
    arguments += ["--max-calls", "2", "--json"]
    serve(answering(greets, judge))
    whole = goalwright(*arguments, cwd=tmp_path / "whole")
    assert whole.status == 0, whole.err
    script = answering(greets, judge)
    server = serve(script)
    for finished in (6, 16, 26):  # in the runs, in later ones, and among the judge's calls
        held, killed_now = list[Call](), threading.Event()
        server.script = holding(script, held, killed_now, answered=finished - kept(tmp_path / "killed"))
        process = nursery.start(
            ["-m", "goalwright", *arguments, "--resume"],
            cwd=tmp_path / "killed",
            stdout=-3,
            stderr=-3,
            env=dict(os.environ),
        )
        while len(held) < 2 or kept(tmp_path / "killed") < finished:
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed_now.set()
    server.script = script
    killed = goalwright(*arguments, "--resume", cwd=tmp_path / "killed")
    assert killed.status == 0, killed.err
    first, second = json.loads(whole.out), json.loads(killed.out)
    assert [row["pass_rate"] for row in first["variants"]] == [row["pass_rate"] for row in second["variants"]]
    assert first["differences"] == second["differences"]
    rows = [[(row["case"], row["variant"], row["passed"]) for row in found["rows"]] for found in (first, second)]
    assert rows[0] == rows[1]
    # A call that was under way when the process died is made again; one that was finished is not.
    again = sum(count - 1 for count in asked(server).values())
    assert again == 3 * 2, asked(server).most_common(3)
    assert len(asked(server)) == 36


@pytest.mark.long
async def test_equal_variants_show_no_difference_end_to_end(tmp_path: Path, serve: Serve) -> None:
    dice = random.Random(7)
    serve(answering(lambda goal, _: f"About: {goal}" + (" Dear" if dice.random() < 0.6 else "")))
    found = []
    for number in range(5):
        report = await evaluate(
            letters(12, start=100 * number),
            {"one": {}, "other": {"max_tasks": 50}},
            model=MODEL,
            workspace=tmp_path,
            options=EvaluationOptions(repeat=3),
        )
        (difference,) = report.differences
        assert difference.comparison is not None
        found.append(difference.comparison.verdict)
    assert found.count("no difference shown") >= 4, found


async def test_trials_interleave_variants(tmp_path: Path, serve: Serve) -> None:
    server = serve(answering(lambda goal, _: goal))
    options = EvaluationOptions(repeat=2, batch=BatchOptions(jobs=1))
    variants = {"a": {"model": "openai/a"}, "b": {"model": "openai/b"}}
    await evaluate(letters(2), variants, workspace=tmp_path, options=options)
    order = [(goal_of(call)[-1], call.body["model"]) for call in server.calls if call.role == "decomposer"]
    assert order == [("0", "b"), ("0", "a"), ("1", "a"), ("1", "b"), ("0", "a"), ("0", "b"), ("1", "b"), ("1", "a")]


async def test_judge_gets_the_rest_of_the_budget(tmp_path: Path, serve: Serve) -> None:
    script = answering(lambda goal, _: f"Dear Ann, about: {goal}")

    def costly(call: Call) -> Answer:
        said = script(call)
        assert isinstance(said, Say)
        return replace(said, tokens=(1_000_000, 0))

    server = serve(costly)
    case = letters(1)[0] | {"expectations": [f"It is kind to {name}" for name in "abcd"]}
    price = {MODEL: {"input": 0.4, "output": 0.4}}
    options = EvaluationOptions(batch=BatchOptions(max_cost=1))
    report = await evaluate([case], model=MODEL, workspace=tmp_path, settings={"prices": price}, options=options)
    assert (report.stopped, sum(map(is_judge, server.calls))) == ("budget", 1), "0.80 was spent before it"
