from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.settings import ollama
from tests.goalwright.models.local.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def running(document: Any) -> Iterator[dict[str, str]]:
    with Hub(json.dumps(document).encode()) as hub:
        yield {"OLLAMA_API_BASE": hub.url.removesuffix("/models/tiny.gguf") + "/"}


def row(name: str, modified: str, family: str = "qwen3") -> dict[str, Any]:
    return {"name": name, "modified_at": modified, "details": {"families": [family]}}


def test_the_latest_chat_model_is_used_and_embedding_models_are_not() -> None:
    models = [
        row("qwen3:4b", "2026-03-01"),
        row("llama3.2:1b", "2026-01-01"),
        row("nomic-embed-text", "2026-05-01"),
        row("all-minilm", "2026-06-01", "bert"),
    ]
    with running({"models": models}) as env:
        assert ollama.probe(env) == "ollama_chat/qwen3:4b"


@pytest.mark.parametrize("document", [{"models": []}, {"models": [row("nomic-embed-text", "")]}, [], {}])
def test_an_ollama_without_a_chat_model_is_ignored(document: Any) -> None:
    with running(document) as env:
        assert ollama.probe(env) is None


def test_other_server_at_the_address_of_ollama_is_ignored() -> None:
    with Hub(b"<html>", status=200) as hub:
        assert ollama.probe({"OLLAMA_API_BASE": hub.url}) is None
    with Hub(b"", status=503) as hub:
        assert ollama.probe({"OLLAMA_API_BASE": hub.url}) is None
    assert ollama.probe({"OLLAMA_API_BASE": "http://127.0.0.1:9"}) is None
    assert ollama.probe({"OLLAMA_API_BASE": "not an address"}) is None


def test_the_address_is_loopback_unless_the_variable_says_otherwise() -> None:
    assert ollama.base_url({}) == "http://127.0.0.1:11434"
    assert ollama.base_url({"OLLAMA_API_BASE": "http://gpu:1/"}) == "http://gpu:1"
