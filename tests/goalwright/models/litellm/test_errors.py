"""litellm's exceptions are mapped to goalwright's errors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from goalwright.models.litellm.errors import explain
from goalwright_planner.errors import (
    CallTimedOut,
    ContentRefused,
    FormatRefused,
    KeyRefused,
    ModelError,
    Overloaded,
    PromptTooLong,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ToolsRefused,
    Transient,
    UnknownModel,
    Unreachable,
)


def foreign(kind: str, status: int | None, message: str, **headers: str) -> Exception:
    """An exception such as litellm raises."""
    fields: dict[str, Any] = {"status_code": status, "message": message, "litellm_response_headers": headers}
    made: Exception = type(kind, (Exception,), fields)(message)
    return made


def test_litellms_hints_are_replaced() -> None:
    nameless = explain(foreign("BadRequestError", 400, "LLM Provider NOT provided. Pass model as E.g. …"), "nonsense")
    assert nameless.message == "no provider is known for the model 'nonsense'"
    assert "openai/gpt-6.1-sol" in nameless.hint
    keyless = explain(foreign("InternalServerError", 500, "Missing credentials. Please pass an `api_key`"), "openai/x")
    assert keyless.message == "there is no key for openai/x"
    assert keyless.hint.startswith("set OPENAI_API_KEY")


def test_stopped_ollama_has_a_hint_to_start_it() -> None:
    said = "Cannot connect to host localhost:11434 ssl:<ssl.SSLContext object at 0xffff928fb380> [Connect call failed]"
    error = explain(foreign("APIConnectionError", 500, said), "ollama_chat/qwen3:8b")
    connected = "Cannot connect to host localhost:11434 [Connect call failed]"
    assert error.message == f"ollama_chat/qwen3:8b could not be reached: {connected}"
    assert "ollama serve" in error.hint


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (foreign("AuthenticationError", 401, "bad key"), KeyRefused),
        (foreign("APIError", 403, "forbidden"), KeyRefused),
        (foreign("InternalServerError", 500, "Missing credentials. Please pass an `api_key`"), KeyRefused),
        (foreign("RateLimitError", 429, "insufficient_quota: pay first"), KeyRefused),
        (foreign("NotFoundError", 404, "gone"), UnknownModel),
        (foreign("BadRequestError", 400, "LLM Provider NOT provided"), UnknownModel),
        (foreign("NotFoundError", 404, "No endpoints found that support tool use"), ToolsRefused),
        (foreign("BadRequestError", 400, "this model does not support tools"), ToolsRefused),
        (foreign("BadRequestError", 400, "response_format json_schema is not supported"), FormatRefused),
        (foreign("UnsupportedParamsError", 400, "x does not support parameters: ['response_format']"), FormatRefused),
        (foreign("BadRequestError", 422, "temperature must be lower"), RequestRefused),
        (foreign("ContextWindowExceededError", 400, "too long"), PromptTooLong),
        (foreign("ContentPolicyViolationError", 400, "no"), ContentRefused),
        (foreign("RateLimitError", 429, "slow"), RateLimited),
        (foreign("ServiceUnavailableError", 503, "busy"), Overloaded),
        (foreign("APIError", 529, "overloaded"), Overloaded),
        (foreign("InternalServerError", 500, "oops"), ServerFailed),
        (foreign("InternalServerError", 500, "Connection error."), Unreachable),
        (foreign("APIConnectionError", 500, "x"), Unreachable),
        (foreign("InternalServerError", 500, "Expecting value: line 1 column 1 (char 0)"), ServerFailed),
        (foreign("Timeout", 408, "late"), CallTimedOut),
        (ValueError("strange"), Unreachable),
    ],
)
def test_each_failure_has_its_own_class(error: Exception, wanted: type[ModelError]) -> None:
    found = explain(error, "openai/x")
    assert type(found) is wanted
    assert "openai/x" in found.message


def test_retry_after_is_parsed_and_invalid_values_ignored() -> None:
    error = explain(foreign("RateLimitError", 429, "slow", **{"retry-after": "7.5"}), "m")
    assert isinstance(error, Transient)
    assert error.retry_after == 7.5
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    dated = explain(foreign("RateLimitError", 429, "slow", **{"retry-after": moment}), "m")
    assert isinstance(dated, RateLimited)
    assert dated.retry_after is not None
    assert 50 < dated.retry_after <= 60
    for nonsense in ("Wed, 21 Oct", "inf", "nan", "soon", ""):
        other = explain(foreign("RateLimitError", 429, "slow", **{"retry-after": nonsense}), "m")
        assert isinstance(other, Transient)
        assert other.retry_after is None


def test_litellms_prefixes_are_dropped_and_long_messages_cut() -> None:
    error = foreign("BadRequestError", 400, "litellm.BadRequestError: OpenAIException - what is wrong " + "x" * 999)
    text = explain(error, "m").message
    assert "litellm" not in text
    assert "what is wrong" in text
    assert len(text) < 500


def test_answer_that_is_not_json_is_reported_without_a_traceback() -> None:
    page = explain(foreign("InternalServerError", 500, "Expecting value: line 1 column 1 (char 0)"), "m")
    assert page.message.startswith("m did not answer with JSON")
    stack = foreign("APIError", 500, "Invalid response object\nTraceback (most recent call last):\n  File x, line 1")
    assert explain(stack, "m").message == "m failed (500): Invalid response object"


def test_a_refused_key_names_the_providers_variable() -> None:
    assert "ANTHROPIC_API_KEY" in explain(foreign("AuthenticationError", 401, "no"), "anthropic/claude").hint
    assert "OPENAI_API_KEY" in explain(foreign("AuthenticationError", 401, "no"), "gpt-4o").hint
