"""A model's name is told from an address that hides in its place."""

from __future__ import annotations

import pytest

from goalwright_skills.text.model_names import carries_address


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
def test_an_address_is_found_in_every_disguise(name: str) -> None:
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
def test_names_that_providers_use_are_names(name: str) -> None:
    assert not carries_address(name)
