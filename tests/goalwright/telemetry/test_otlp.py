"""Spans: each with its own id and end, in a tree without gaps, however the run ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import BatchPlace, Goal
from goalwright.telemetry import otlp
from goalwright.telemetry.spans import run_spans, score_spans, span_id
from goalwright_planner.errors import ModelError
from goalwright_planner.model import Reply, Request
from goalwright_planner.plan.plan import Plan
from tests.collector import collecting
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import GOAL, answering, failing, goalwright, prepare, rows

if TYPE_CHECKING:
    from pathlib import Path


def named(spans: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [span for span in spans if span["name"].startswith(name)]


async def test_a_task_that_ran_twice_has_two_spans_with_their_own_calls(workspace: Path) -> None:
    prepare(workspace)
    for script in (failing("survey", error=ModelError("no")), answering):
        async with goalwright(workspace, ScriptedModel(script)) as runtime:
            await (runtime.run(GOAL) if script is not answering else runtime.resume("last"))
    spans = run_spans(rows(workspace))
    assert len({span["spanId"] for span in spans}) == len(spans)
    first, second = named(spans, "invoke_agent tabulating")
    assert (first["status"]["message"], "status" in second) == ("no", False)
    calls = {span["parentSpanId"]: span for span in named(spans, "chat")}
    assert calls[first["spanId"]]["status"]["message"] == "no"
    assert "status" not in calls[second["spanId"]]


async def test_spans_of_a_cut_record_form_a_tree(workspace: Path) -> None:
    prepare(workspace)
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(GOAL)
    recorded = rows(workspace)
    for end in range(1, len(recorded)):
        spans = run_spans(recorded[:end])
        ids = [span["spanId"] for span in spans]
        assert len(set(ids)) == len(ids)
        assert {span["parentSpanId"] for span in spans[1:]} <= set(ids)
        assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)


async def test_no_span_ends_before_it_starts(workspace: Path) -> None:
    prepare(workspace)
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(GOAL)
    recorded = rows(workspace)
    for back in range(1, len(recorded)):
        earlier = [row._replace(at=row.at.replace("20", "19", 1)) for row in recorded[back:]]
        spans = run_spans([*recorded[:back], *earlier])
        assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)


async def test_failed_planning_is_a_failed_span(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(lambda _: Reply("no plan"))) as runtime:
        await runtime.run(GOAL)
    spans = run_spans(rows(workspace))
    (plan,) = named(spans, "plan")
    assert "no valid plan" in plan["status"]["message"]
    assert "no valid plan" in spans[0]["status"]["message"]
    assert {span["parentSpanId"] for span in named(spans, "chat")} == {plan["spanId"]}


async def test_headers_use_the_opentelemetry_format(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(lambda _: Reply("no plan"))) as runtime:
        await runtime.run(GOAL)
    with collecting() as (address, sent):
        env = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic%20YWJj%3D, x-team = weavers",
        }
        otlp.send(
            rows(workspace), env=env | {"OTEL_RESOURCE_ATTRIBUTES": "goalwright.worker=node-1%3A7,service.name=mine"}
        )
    ((_, document),) = sent
    resource = document["resourceSpans"][0]["resource"]["attributes"]
    assert {one["key"]: one["value"]["stringValue"] for one in resource} == {
        "goalwright.worker": "node-1:7",
        "service.name": "mine",
    }
    assert [(headers["authorization"], headers["x-team"]) for headers, _ in sent] == [("Basic YWJj=", "weavers")]
    wrong = [{"OTEL_EXPORTER_OTLP_HEADERS": "a=b%0Ac"}]
    wrong += [{"OTEL_EXPORTER_OTLP_ENDPOINT": one} for one in ("http://a b", "http://[::1")]
    for one in wrong:
        with pytest.raises(otlp.NotSent):
            otlp.send(rows(workspace), env=env | one)


def test_redirected_or_refused_spans_are_an_error() -> None:
    spans = [{"spanId": "1"}, {"spanId": "2"}]
    with (
        collecting() as (elsewhere, arrived),
        collecting(302, location=elsewhere) as (address, _),
        pytest.raises(otlp.NotSent, match="302"),
    ):
        otlp.send_spans(spans, env={"OTEL_EXPORTER_OTLP_ENDPOINT": address})
    assert arrived == []
    partly = json.dumps({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}).encode()
    with collecting(answer=partly) as (address, _), pytest.raises(otlp.NotSent, match="refused 1 of 2 spans"):
        otlp.send_spans(spans, env={"OTEL_EXPORTER_OTLP_ENDPOINT": address})
    for answer in (b"{}", b"\n\x00", b'{"partialSuccess": {}}', b"[" * 70_000):
        with collecting(answer=answer) as (address, _):
            assert otlp.send_spans(spans, env={"OTEL_EXPORTER_OTLP_ENDPOINT": address}) == 2


async def test_a_check_is_an_evaluation_inside_its_task_and_a_run_names_its_batch(workspace: Path) -> None:
    def script(request: Request) -> Reply:
        return Reply('{"holds": true, "why": "it does"}' if request.role == "checker" else "done")

    task = {"id": "a", "action_type": "llm", "instruction": "Do it", "check": {"ask": "It is done."}}
    async with goalwright(workspace, ScriptedModel(script)) as runtime:
        place = BatchPlace("batch-1", "g7", 9)
        await runtime.run(Goal(GOAL, plan=Plan.from_dict({"tasks": [task]}), place=place))
    spans = run_spans(rows(workspace), content=True)
    root = {one["key"]: one["value"].get("stringValue") for one in spans[0]["attributes"]}
    assert (root["goalwright.batch"], root["goalwright.batch_goal"]) == ("batch-1", "g7")
    (check,), (parent,) = named(spans, "evaluate a"), named(spans, "invoke_agent a")
    assert check["parentSpanId"] == parent["spanId"]
    told = {one["key"]: one["value"]["stringValue"] for one in check["attributes"]}
    assert told == {
        "gen_ai.evaluation.name": "check",
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "it does",
    }


def test_a_score_is_a_span_in_the_trace_of_its_run() -> None:
    check = {"check": "contains: Dear", "passed": False, "evidence": "what the answer says"}
    row = {"case": "a", "variant": "with", "repeat": 2, "run_id": "run-1", "passed": False, "checks": [check]}
    (span,) = score_spans({"eval_id": "eval-1", "rows": [row]})
    assert (span["traceId"], span["parentSpanId"]) == (span_id("run-1", "", 32), span_id("run-1", "run", 16))
    values = {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}
    assert values["gen_ai.evaluation.name"] == "contains: Dear"
    assert (values["gen_ai.evaluation.score.value"], values["gen_ai.evaluation.score.label"]) == (0.0, "fail")
    assert (values["goalwright.eval_id"], values["goalwright.case"], values["goalwright.variant"]) == (
        "eval-1",
        "a",
        "with",
    )
    assert "what the answer says" not in str(span)
