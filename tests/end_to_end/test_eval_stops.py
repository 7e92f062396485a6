"""`goalwright eval` stopped by Ctrl-C, during runs and judge calls, and by a budget."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.collector import collecting
from tests.evaluated import answering, is_judge, letters, write_cases
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Nursery, Ran

pytestmark = pytest.mark.slow

Serve = Callable[[Script], OpenAIServer]
MODEL = ("--model", "openai/test-model")
KIND = {"expectations": ["It is kind", "It is short"]}


def slowly(wanted: Callable[[Call], bool]) -> Script:
    """Answers, but not soon where it is `wanted`."""
    script = answering(lambda goal, _: f"Dear Ann, about: {goal}")

    def answer(call: Call) -> Answer:
        said = script(call)
        assert isinstance(said, Say)
        return Say(said.text, after=0.3) if wanted(call) else said

    return answer


def interrupted(nursery: Nursery, folder: Path, ready: Callable[[], bool], *arguments: str) -> dict[str, Any]:
    """Start an evaluation, press Ctrl-C twice as soon as something holds, and return what it printed."""
    process = nursery.start(
        ["-m", "goalwright", *arguments, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=-3, env=dict(os.environ)
    )
    while process.poll() is None and not ready():
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.1)
    with suppress(ProcessLookupError):  # once was enough
        os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate()
    assert process.returncode == 130
    document: dict[str, Any] = json.loads(out)
    return document


@pytest.mark.parametrize("judging", [False, True], ids=["among the runs", "among the judge's calls"])
def test_stopped_evaluation_exits_with_130_and_resumes(
    judging: bool, tmp_path: Path, serve: Serve, nursery: Nursery, goalwright: Callable[..., Ran]
) -> None:
    server = serve(slowly(lambda call: is_judge(call) == judging))
    write_cases(tmp_path / "cases.jsonl", *(case | KIND for case in letters(6)))
    arguments = ["eval", "cases.jsonl", *MODEL, "--judge", "openai/judge", "--jobs", "1", "--max-calls", "1"]

    def ready() -> bool:
        return sum(is_judge(call) == judging for call in server.calls) > 2

    found = interrupted(nursery, tmp_path, ready, *arguments)
    assert found["stopped"] == "interrupted"
    assert "12 expectations left out of the scores" in found["warnings"][-1]
    assert {check["check"] for row in found["rows"] for check in row["checks"]} <= {"contains: Dear"}
    assert len(found["rows"]) == 6 if judging else len(found["rows"]) < 6
    shown = goalwright("eval", "show", "last", "--check", "--min-pass", "0", "--html", "page.html", cwd=tmp_path)
    assert (shown.status, "was stopped (interrupted)" in shown.err) == (130, True), shown.err
    assert goalwright("eval", "show", "last", cwd=tmp_path).status == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("it was stopped (interrupted)" in page, "12 expectations left out" in page) == (True, True)
    again = goalwright(*arguments, "--resume", "--json", cwd=tmp_path)
    assert again.status == 0, again.err
    document = json.loads(again.out)
    assert (document["stopped"], document["variants"][0]["pass_rate"], len(document["rows"])) == (None, 1.0, 6)
    asked = Counter(json.dumps(call.body["messages"]) for call in server.calls)
    # A call that was under way when it was stopped may be made again; one that was finished is not.
    assert (len(asked), sum(asked.values()) <= len(asked) + 2) == (24, True)


def test_budget_spent_while_judging_exits_with_5_and_resumes(
    tmp_path: Path, serve: Serve, goalwright: Callable[..., Ran]
) -> None:
    server = serve(answering(lambda goal, _: f"Dear Ann, about: {goal}"))
    write_cases(tmp_path / "cases.jsonl", *(case | KIND for case in letters(4)))
    arguments = ["eval", "cases.jsonl", *MODEL, "--judge", "openai/judge", "--max-calls", "1", "--json"]
    first = goalwright(*arguments, "--max-tokens", "200", cwd=tmp_path)

    report = json.loads(first.out)
    assert (first.status, report["stopped"]) == (5, "budget"), first.err
    assert " of 200 tokens" in report["reason"]
    assert f"{report['reason'].capitalize()}. Continue with" in first.err
    again = goalwright(*arguments, "--resume", cwd=tmp_path)
    assert (again.status, json.loads(again.out)["stopped"]) == (0, None), again.err
    asked = Counter(json.dumps(call.body["messages"]) for call in server.calls)
    assert (len(asked), max(asked.values())) == (16, 1)


def test_scores_are_sent_as_spans_on_request(tmp_path: Path, serve: Serve, goalwright: Callable[..., Ran]) -> None:
    serve(answering(lambda goal, _: f"Dear Ann, about: {goal}"))
    write_cases(tmp_path / "cases.jsonl", *letters(2))
    with collecting() as (url, sent):
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "GOALWRIGHT_SEND_SPANS": "true"}
        ran = goalwright("eval", "cases.jsonl", *MODEL, "--json", cwd=tmp_path, env=env)
    assert ran.status == 0, ran.err
    spans = sent[-1][1]["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["name"] for span in spans] == ["evaluate letter-0", "evaluate letter-1"]
    traces = {span["traceId"] for _, body in sent[:-1] for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]}
    assert {span["traceId"] for span in spans} == traces
