from __future__ import annotations

import json
from typing import Any

import pytest

from goalwright_executor.model_loop.form import Form, UnfitAnswer
from goalwright_executor.model_loop.model_loop import ModelLoop, Toolbox
from goalwright_executor.results.memo import Memo
from goalwright_planner.model import Message, Reply
from goalwright_planner.prompting.prompts import Prompts
from tests.fakes import Recorder, ScriptedModel, saying

FACTS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 1}},
    "required": ["city", "people"],
}
FORM = Form(FACTS, Prompts())


def loop_with(model: ScriptedModel, form: Form = FORM) -> ModelLoop:
    return ModelLoop(model, Toolbox(Memo(Recorder())), "a", (Message("user", "go"),), schema=form.enforced)


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Ulm", "people": 5}',
        ' \n{"people": 5, "city": "Ulm"}\n',
        '```json\n{"city": "Ulm", "people": 5}\n```',
        '~~~\n{"city": "Ulm", "people": 5}\n~~~',
        '<think>Which city? {"city": "Bonn", "people": 1}</think>\n{"city": "Ulm", "people": 5}',
        '{"result": {"city": "Ulm", "people": 5}}',
    ],
)
def test_answer_with_only_the_value_is_parsed(text: str) -> None:
    assert FORM.read(text) == ({"city": "Ulm", "people": 5}, [])


@pytest.mark.parametrize(
    "text",
    [
        'Here it is: {"city": "Ulm", "people": 5}',
        '{"city": "Ulm", "people": 5}\nI hope that helps!',
        'I found none. For example:\n```json\n{"city": "Ulm", "people": 5}\n```',
        '```json\n{"city": "Ulm", "people": 5}\n```\n```json\n{"city": "Bonn", "people": 5}\n```',
        "Ulm",
        "",
        '{"city": "Ulm", "people": NaN}',
        '{"city": "Ulm", "city": "Bonn", "people": 5}',
        '{"city": "Ulm", "people": 5',
        '{"city": "Ulm", "people": 5,}',
        "{'city': 'Ulm', 'people': 5}",
        '{"city": "Ulm", "people": ' + "9" * 5_000 + "}",
        "[" * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_prose_is_not_a_value(text: str) -> None:
    value, faults = FORM.read(text)
    assert value is None
    assert len(faults) == 1
    assert faults[0].startswith("the answer is not JSON: ")


def test_all_faults_of_an_answer_are_reported_at_once() -> None:
    assert FORM.read('{"people": 0}')[1] == ["the answer lacks the field 'city'", "people must be 1 or more, not 0"]
    assert FORM.read('{"city": "Ulm", "people": 5}', cut=True)[1] == [
        "the answer was cut off at the model's output limit; give a shorter one"
    ]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, '"high"', "high"),
        ({"type": "string"}, '{"result": "high"}', "high"),
        ({"type": "number"}, "3.50", 3.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "array", "items": {"type": "string"}}, '["a", "b"]', ["a", "b"]),
        ({"type": "array", "items": {"type": "string"}}, '{"result": ["a"]}', ["a"]),
        ({"type": ["object", "null"]}, "null", None),
        ({"type": "object"}, '{"result": 1}', {"result": 1}),
    ],
)
def test_value_may_be_wrapped_in_an_object(schema: dict[str, Any], text: str, value: Any) -> None:
    assert Form(schema, Prompts()).read(text) == (value, [])


def test_enforced_schema_is_always_an_object() -> None:
    assert FORM.enforced == FACTS
    words = {"type": "array", "items": {"type": "string"}}
    assert Form(words, Prompts()).enforced == {
        "type": "object",
        "properties": {"result": words},
        "required": ["result"],
    }


async def test_invalid_answer_is_requested_again_with_all_faults() -> None:
    model = saying("Ulm, I think", '{"people": 0}', '{"people": 5, "city": "Ulm"}')
    assert await FORM.answer(loop_with(model)) == {"city": "Ulm", "people": 5}
    first, second, third = model.asked
    assert [request.schema for request in model.asked] == [FACTS] * 3
    assert [one.role for one in third.messages] == ["user", "assistant", "user", "assistant", "user"]
    assert "- the answer is not JSON: it is text; answer with the JSON value alone" in second.messages[-1].content
    assert third.messages[-2].content == '{"people": 0}'
    assert third.messages[-1].content.splitlines()[1:3] == [
        "- the answer lacks the field 'city'",
        "- people must be 1 or more, not 0",
    ]
    assert first.messages == (Message("user", "go"),)


async def test_task_fails_after_three_invalid_answers() -> None:
    model = saying("one", "two", '{"people": "many"}', '{"city": "Ulm", "people": 5}')
    with pytest.raises(UnfitAnswer) as failed:
        await FORM.answer(loop_with(model))
    assert str(failed.value) == (
        "none of 3 answers has the form asked for; the last: the answer lacks the field 'city'; "
        "people must be an integer, not a string"
    )
    assert len(model.asked) == 3


async def test_answer_that_stays_truncated_is_requested_again() -> None:
    cut = Reply('{"city": "Ulm", "peo', finish="length")
    model = saying(cut, Reply("pl", finish="length"), '{"city": "Ulm", "people": 5}')
    asking = ModelLoop(model, Toolbox(Memo(Recorder())), "a", (Message("user", "go"),), continuations=1)
    assert await FORM.answer(asking) == {"city": "Ulm", "people": 5}
    assert "cut off at the model's output limit" in model.asked[-1].messages[-1].content


async def test_continued_answer_is_parsed_as_one() -> None:
    model = saying(Reply('{"city": "Ulm", ', finish="length"), '"people": 5}')
    assert await FORM.answer(loop_with(model)) == {"city": "Ulm", "people": 5}


async def test_number_of_reported_faults_is_limited() -> None:
    form = Form({"type": "array", "items": {"type": "string"}}, Prompts())
    model = saying(json.dumps(list(range(5_000))), '["fine"]')
    assert await form.answer(loop_with(model, form)) == ["fine"]
    told = model.asked[-1].messages[-1].content
    assert told.count("must be a string") == 100
    assert "- and 4900 more of the same kind" in told
