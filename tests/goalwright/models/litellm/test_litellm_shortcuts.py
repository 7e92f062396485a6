"""What is left out of a call changes nothing: the same is sent, and a program's own callbacks still hear of it."""

from __future__ import annotations

import asyncio
import importlib
import sys
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from openai import omit
from openai._utils import PropertyInfo
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from typing_extensions import TypedDict

from goalwright.models.litellm import litellm_shortcuts

completions: Any = importlib.import_module("openai.resources.chat.completions.completions")
SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0.5}, "tags": {"enum": ["a", None]}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
BODY = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Ä"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "3", "tool_call_id": "c1", "own": {"field": [1, True]}},
    ],
    "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "plan", "schema": SCHEMA, "strict": False}},
    "max_tokens": 5,
    "temperature": omit,
}


class Renamed(TypedDict, total=False):
    card_id: Annotated[str, PropertyInfo(alias="cardID")]


@pytest.fixture
def transform(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The client's own function; the shortcut is installed over it."""
    own = getattr(completions.async_maybe_transform, "__wrapped__", completions.async_maybe_transform)
    monkeypatch.setattr(completions, "async_maybe_transform", own)
    litellm_shortcuts.install()
    return own


@pytest.mark.parametrize("kind", [CompletionCreateParamsNonStreaming, CompletionCreateParamsStreaming])
def test_a_request_is_sent_as_the_client_would_send_it(transform: Any, kind: Any) -> None:
    ours = asyncio.run(completions.async_maybe_transform(BODY, kind))
    theirs = asyncio.run(transform(BODY, kind))
    assert repr(ours) == repr(theirs)
    assert ours["messages"] is BODY["messages"], "nothing was walked through"


def test_what_is_not_plain_json_or_has_other_names_is_left_to_the_client(transform: Any) -> None:
    body = BODY | {"messages": ({"role": "user", "content": text} for text in "ab")}
    sent = asyncio.run(completions.async_maybe_transform(body, CompletionCreateParamsNonStreaming))
    assert [message["content"] for message in sent["messages"]] == ["a", "b"]
    assert asyncio.run(completions.async_maybe_transform({"card_id": "1"}, Renamed)) == {"cardID": "1"}


def test_a_call_is_logged_if_a_program_has_set_a_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    internal = ContextVar("internal", default=False)
    monkeypatch.setitem(sys.modules, "litellm._internal_context", SimpleNamespace(is_internal_call=internal))
    for everywhere, here in (([], []), ([print], []), ([], [print])):
        with litellm_shortcuts.unlogged(SimpleNamespace(success_callback=everywhere), {"callbacks": here}):
            assert internal.get() is not bool(everywhere or here)
        assert not internal.get()
