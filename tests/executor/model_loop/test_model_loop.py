"""The tool loop of a task."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from msgspec.structs import replace

from goalwright_executor.model_loop.model_loop import NOTE, ModelLoop, Toolbox
from goalwright_executor.results.memo import Memo
from goalwright_planner.errors import ContentRefused, ModelError
from goalwright_planner.events import ToolCalled, Warned
from goalwright_planner.model import Message, Reply, Request, ToolCall
from goalwright_skills.tools.envelope import Context, Envelope
from tests.fakes import Recorder, ScriptedModel, saying

if TYPE_CHECKING:
    from collections.abc import Mapping


class Echo:
    name = "text_echo"
    description = "Echo a text."
    parameters: ClassVar[dict[str, Any]] = {"type": "object", "properties": {"text": {"type": "string"}}}

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        return Envelope("success", str(arguments.get("text")), Context("/", dict(arguments)))


def asks(name: str, arguments: str, times: int = 1) -> Reply:
    return Reply("", tuple(ToolCall(f"c{n}", name, arguments) for n in range(times)), finish="tool_calls")


async def talk(model: ScriptedModel, limit: int = 30) -> tuple[str, Recorder]:
    record = Recorder()
    toolbox = Toolbox(Memo(record), [Echo()], limit, "/")
    answer = await ModelLoop(model, toolbox, "t", (Message("user", "go"),)).answer()
    return answer, record


async def test_tool_result_is_returned_as_envelope_before_the_answer() -> None:
    model = saying(asks("text_echo", '{"text": "hi"}'), "done")
    answer, record = await talk(model)
    assert answer == "done"
    result = model.asked[1].messages[-1]
    assert (result.role, result.tool_call_id) == ("tool", "c0")
    assert json.loads(result.content)["text"] == "hi"
    assert len(record.of(ToolCalled)) == 1


@pytest.mark.parametrize(
    ("call", "code", "says"),
    [
        (asks("text_ecko", "{}"), "NOT_FOUND", "known are: text_echo"),
        (asks("text_echo", "hello"), "INVALID_PARAM", "not a JSON object"),
        (asks("text_echo", "[1]"), "INVALID_PARAM", "not a JSON object"),
        (asks("text_echo", '{"text": ' * 400 + "1" + "}" * 400), "INVALID_PARAM", "not a JSON object"),
        (asks("text_echo", '{"text": ' * 9_000 + "1" + "}" * 9_000), "INVALID_PARAM", "not a JSON object"),
    ],
)
async def test_model_mistakes_become_error_envelopes(call: Reply, code: str, says: str) -> None:
    model = saying(call, "sorry")
    await talk(model)
    error = json.loads(model.asked[1].messages[-1].content)["error"]
    assert error["code"] == code
    assert says in error["message"]


async def test_arguments_with_trailing_comma_or_missing_arguments_are_accepted() -> None:
    model = saying(asks("text_echo", '{"text": "x",}'), asks("text_echo", ""), "ok")
    await talk(model)
    assert json.loads(model.asked[1].messages[-1].content)["text"] == "x"
    assert json.loads(model.asked[2].messages[-1].content)["status"] == "success"


async def test_model_is_asked_to_answer_at_tool_call_limit() -> None:
    def script(request: Request) -> Reply:
        return asks("text_echo", "{}") if request.may_call_tools else Reply("what I have")

    model = ScriptedModel(script)
    answer, record = await talk(model, limit=30)
    assert answer == "what I have"
    assert len(record.of(ToolCalled)) == 30
    last = model.asked[-1]
    assert not last.may_call_tools
    assert "limit of 30 tool calls" in last.messages[-1].content


async def test_calls_beyond_limit_in_one_reply_are_refused() -> None:
    model = saying(asks("text_echo", "{}", times=5), "ok")
    _, record = await talk(model, limit=3)
    statuses = [event.envelope["status"] for event in record.events if isinstance(event, ToolCalled)]
    assert statuses == ["success"] * 3 + ["error"] * 2


async def test_model_that_keeps_calling_tools_after_limit_fails() -> None:
    with pytest.raises(ModelError, match="more tools after the limit"):
        await talk(saying(asks("text_echo", "{}")), limit=2)


async def test_truncated_answer_is_continued() -> None:
    model = saying(Reply("one, ", finish="length"), Reply("two, ", finish="length"), "three")
    answer, _ = await talk(model)
    assert answer == "one, two, three"


async def test_answer_that_stays_truncated_ends_with_note() -> None:
    answer, record = await talk(saying(Reply("more ", finish="length", model="small")))
    assert answer == f"more more more more\n\n{NOTE}"
    (warning,) = [event.message for event in record.events if isinstance(event, Warned)]
    assert "was cut off: small reached its token limit" in warning


async def test_truncated_tool_call_is_not_repaired() -> None:
    cut = replace(asks("text_echo", '{"text": "half"'), finish="length")
    model = saying(cut, "ok")
    _, record = await talk(model)
    (called,) = [event.envelope for event in record.events if isinstance(event, ToolCalled)]
    assert called["error"]["code"] == "INVALID_PARAM"
    assert "cut off" in called["error"]["message"]
    _, record = await talk(saying(asks("text_echo", '{"text": "whole"'), "ok"))
    assert [event.envelope["status"] for event in record.events if isinstance(event, ToolCalled)] == ["success"]


async def test_empty_answer_is_retried_and_then_fails() -> None:
    answer, _ = await talk(saying("", "at last"))
    assert answer == "at last"
    with pytest.raises(ModelError, match="gave no answer"):
        await talk(saying(""))


async def test_filtered_answer_fails_with_hint() -> None:
    with pytest.raises(ContentRefused, match="content filter"):
        await talk(saying(Reply("", finish="content_filter")))
