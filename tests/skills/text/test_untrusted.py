"""Tests of the checks of untrusted text and values."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_skills.text.untrusted import MOST_LEVELS, carries_address, flattened, is_too_deep, join_surrogates


@pytest.mark.parametrize(
    ("value", "joined"),
    [
        ("plain ä 世", "plain ä 世"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud800b", "a\ufffdb"),
        ({"k\udc00": ["\ud83d\ude00", 1, None]}, {"k\ufffd": ["\U0001f600", 1, None]}),
    ],
)
def test_join_surrogates_joins_pairs_and_replaces_lone_surrogates(value: object, joined: object) -> None:
    assert join_surrogates(value) == joined


def test_join_surrogates_returns_a_clean_value_unchanged() -> None:
    value = {"a": ["ä"]}
    assert join_surrogates(value) is value


def nested(levels: int) -> Any:
    value: Any = "x"
    for number in range(levels):
        value = [value] if number % 2 else {"a": value, "b": 1}
    return value


def test_is_too_deep_accepts_a_hundred_levels() -> None:
    assert not is_too_deep("text")
    assert not is_too_deep({"a": [1, {"b": ()}]})
    assert not is_too_deep(nested(MOST_LEVELS))
    assert is_too_deep(nested(MOST_LEVELS + 1))
    assert is_too_deep(nested(20_000))


def test_flattened_cuts_deeper_levels() -> None:
    assert flattened(nested(MOST_LEVELS)) == nested(MOST_LEVELS)
    flat = flattened(nested(20_000))
    assert not is_too_deep(flat)
    assert str(flat).count("…") == 1


@pytest.mark.parametrize(
    "name",
    [
        "oobabooga/http://evil.example",
        "oobabooga/HTTPS://evil.example",
        "huggingface/https://x.endpoints.example/v1",
        "openai/https://evil.example/v1",
        "custom_openai/http://user@evil.example",
        "http://evil.example",
        "//evil.example/v1",
        "openai///evil.example",
        "oobabooga/http:%2F%2Fevil.example",
        "oobabooga/http%3A%2F%2Fevil.example",
        "oobabooga/http:/evil.example",
        "oobabooga/http:\\\\evil.example",
        "oobabooga/ http://evil.example",
        "oobabooga/\thttp://evil.example",
        "oobabooga/http:\u2215\u2215evil.example",
        "oobabooga/http\uff1a//evil.example",
        "oobabooga/ws://evil.example",
        "oobabooga/unix:/run/evil.sock",
        "oobabooga/10.0.0.7:5000/v1",
        "oobabooga/localhost:5000",
        "ollama/llama3?api_base=http",
        "ollama/llama3#x",
        "openai/../../evil",
        "openai/user:secret@evil.example",
        "gpt-4o\nx",
        "",
    ],
)
def test_carries_address_detects_disguised_addresses(name: str) -> None:
    assert carries_address(name)


@pytest.mark.parametrize(
    "name",
    [
        "local",
        "local/qwen2.5-0.5b",
        "gpt-4o",
        "openai/gpt-4.1-mini",
        "anthropic/claude-sonnet-4-5",
        "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        "bedrock/arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0",
        "vertex_ai/claude-3-5-sonnet@20240620",
        "cloudflare/@cf/meta/llama-3.1-8b-instruct",
        "ollama/llama3.1:8b",
        "ollama_chat/qwen2.5:7b-instruct-q4_K_M",
        "openrouter/meta-llama/llama-3.3-70b-instruct:free",
        "huggingface/together/deepseek-ai/DeepSeek-R1",
        "azure/my-deployment_2",
        "ft:gpt-3.5-turbo-0613:org:name:id",
        "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct",
        "ollama/http-coder",
    ],
)
def test_carries_address_accepts_names_of_real_models(name: str) -> None:
    assert not carries_address(name)
