"""The answer as data: in the form that a program asks for, by JSON Schema or by a pydantic model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, field_validator

from goalwright.runs.goal import Goal
from goalwright.runs.run_goal import run_goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_executor.model_loop.data_schema import DataSchema
from goalwright_planner.events import AnswerChecked, RunStarted
from goalwright_planner.plan.plan import Plan
from goalwright_skills.errors import InputError
from tests.fakes import Recorder
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, in_turn, scripted

if TYPE_CHECKING:
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
SETTINGS = Settings(model="openai/test-model", retry_patience=30.0)
GOAL = "List the rivers"
PLAN = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "Find rivers"}]}
RIVERS = {
    "type": "object",
    "properties": {"rivers": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]"}, "minItems": 1}},
    "required": ["rivers"],
    "additionalProperties": False,
}


class River(BaseModel):
    name: str
    length: int | None = None

    @field_validator("name")
    @classmethod
    def known(cls, name: str) -> str:
        if name == "Styx":
            raise ValueError("Styx is\nno river on earth")
        return name


class Rivers(BaseModel):
    rivers: list[River]


def telling(*answers: Any, task: str = "Elbe and Rhine") -> Script:
    """A plan of one task, and the answers in turn."""
    texts = (Say(one if isinstance(one, str) else json.dumps(one)) for one in answers)
    synthesis = in_turn(*texts)
    others = scripted(PLAN, task=lambda _: Say(task))

    def script(call: Call) -> Answer:
        return synthesis(call) if call.role == "synthesis" else others(call)

    return script


async def test_the_answer_has_the_form_of_a_json_schema(workspace: Path, serve: Serve) -> None:
    server = serve(telling({"rivers": ["Elbe", "Rhine"]}))
    record = Recorder()
    result = await run_goal(GOAL, workspace=workspace, settings=SETTINGS, schema=RIVERS, record=record)
    assert (result.status, result.data) == ("done", {"rivers": ["Elbe", "Rhine"]})
    assert result.answer == '{"rivers":["Elbe","Rhine"]}'
    assert result.to_dict()["data"] == result.data
    (started,) = record.of(RunStarted)
    assert isinstance(started, RunStarted)
    assert started.schema == RIVERS
    (asked,) = server.asked("synthesis")
    assert asked.body["response_format"]["json_schema"]["schema"] == RIVERS
    assert json.dumps(RIVERS, indent=1) in asked.user
    assert "<answer_schema>" in server.asked("decomposer")[0].user
    async with Goalwright(workspace, SETTINGS) as goalwright:
        assert goalwright.result(result.run_id).data == result.data


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_all_faults(workspace: Path, serve: Serve) -> None:
    server = serve(telling("prose", {"rivers": ["elbe", 5], "more": 1}, {"rivers": ["Elbe"]}))
    result = await run_goal(GOAL, workspace=workspace, settings=SETTINGS, schema=RIVERS)
    assert (result.status, result.data) == ("done", {"rivers": ["Elbe"]})
    _, second, third = server.asked("synthesis")
    assert "the answer is not JSON" in second.user
    for fault in (
        "- the answer has fields that are not in its form: more",
        '- rivers[0] does not fit {"pattern": "^[A-Z]"}',
        "- rivers[1] must be a string, not a number",
    ):
        assert fault in third.user


async def test_a_pydantic_model_is_checked_by_its_own_validators_too(workspace: Path, serve: Serve) -> None:
    wrong, styx = {"rivers": [{"name": 1, "length": "x"}]}, {"rivers": [{"name": "Styx"}]}
    server = serve(telling(wrong, styx, {"rivers": [{"name": "Elbe", "length": 1094}]}))
    record = Recorder()
    result = await run_goal(GOAL, workspace=workspace, settings=SETTINGS, schema=Rivers, record=record)
    assert result.data == Rivers(rivers=[River(name="Elbe", length=1094)])
    assert result.to_dict()["data"] == {"rivers": [{"name": "Elbe", "length": 1094}]}
    first, second, third = [one for one in record.events if isinstance(one, AnswerChecked)][-3:]
    assert first.faults == (
        (
            "rivers[0].length fits none of its forms: rivers[0].length must be an integer, not a string; "
            "or rivers[0].length must be null, not a string"
        ),
        "rivers[0].name must be a string, not a number",
    )
    assert second.faults == ("rivers[0].name: Value error, Styx is no river on earth",)
    assert third.faults == ()
    assert f"- {second.faults[0]}" in server.asked("synthesis")[2].user


async def test_without_an_answer_of_the_form_the_run_is_partial_and_resumes_with_one_call(
    workspace: Path, serve: Serve
) -> None:
    styx = {"rivers": [{"name": "Styx"}]}
    server = serve(telling(styx, "no", styx, {"rivers": [{"name": "Elbe"}]}))
    result = await run_goal(GOAL, workspace=workspace, settings=SETTINGS, schema=Rivers)
    assert (result.status, result.data, result.code) == ("partial", None, "UNFIT_ANSWER")
    assert result.answer == "Elbe and Rhine"
    assert "none of 3 answers has the form asked for" in (result.error or "")
    calls = len(server.calls)
    async with Goalwright(
        workspace, SETTINGS
    ) as goalwright:  # this process does not know the model, and keeps its verdicts
        resumed = await goalwright.resume(result.run_id)
    assert (resumed.status, resumed.data) == ("done", {"rivers": [{"name": "Elbe"}]})
    assert len(server.calls) == calls + 1


async def test_a_result_that_has_the_form_already_is_the_answer(workspace: Path, serve: Serve) -> None:
    server = serve(telling(task='{"rivers": ["Elbe"]}'))
    result = await run_goal(GOAL, workspace=workspace, settings=SETTINGS, schema=RIVERS)
    assert (result.data, len(server.asked("synthesis"))) == ({"rivers": ["Elbe"]}, 0)


async def test_other_types_and_lists_are_schemas(workspace: Path, serve: Serve) -> None:
    server = serve(telling({"result": [{"name": "Elbe"}]}))
    goal = Goal(GOAL, schema=list[River], plan=Plan.from_dict(PLAN))
    result = await run_goal(goal, workspace=workspace, settings=SETTINGS)
    assert result.data == [River(name="Elbe")]
    (asked,) = server.asked("synthesis")
    schema = asked.body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["result"]["items"] == {"$ref": "#/$defs/River"}
    assert "River" in schema["$defs"]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strin"}, "schema= is not a JSON Schema: type: "),
        ({"enum": {1, 2}}, "schema= is not JSON: "),
        ({"$ref": "https://example.com/x.json"}, "schema= refers to 'https://example.com/x.json', which is not in it"),
        ({"$ref": "#/$defs/x"}, "schema= refers to '#/$defs/x', which is not in it"),
        (3, "schema=3 has no JSON Schema: "),
    ],
)
def test_invalid_schemas_are_refused_before_any_call(schema: Any, why: str) -> None:
    with pytest.raises(InputError, match=r"schema=") as raised:
        Goal(GOAL, schema=schema)
    assert why in raised.value.message


def test_recorded_schemas_use_no_patterns_and_no_endless_recursion() -> None:
    evil = {"pattern": "(a+)+$", "patternProperties": {"(a+)+$": {}}, "additionalProperties": False}
    assert DataSchema(evil, recorded=True).faults("a" * 40 + "b") == []
    assert DataSchema(evil, recorded=True).faults({"a" * 40 + "b": 1}) == []
    assert DataSchema({"$ref": "#"}, recorded=True).faults(1) == ["the answer is nested too deeply"]
