from __future__ import annotations

import pytest

from goalwright.settings.default_model import LOCAL, choose, explore, providers
from goalwright_skills.errors import SetupError

OLLAMA = "ollama_chat/qwen3:4b"


def nothing() -> str | None:
    return None


def must_not_be_tried() -> str | None:
    raise AssertionError("a link after the one that had a model was tried")


def test_a_configured_model_comes_first() -> None:
    choice = choose({"OPENAI_API_KEY": "k"}, " openai/mine ", must_not_be_tried, True)
    assert choice.model == "openai/mine"
    assert [link.name for link in choice.chain] == ["flag, GOALWRIGHT_MODEL or configuration"]


def test_the_first_key_found_chooses_its_providers_model() -> None:
    choice = choose({"XAI_API_KEY": "x", "ANTHROPIC_API_KEY": "a"}, None, must_not_be_tried, True)
    assert choice.model == "anthropic/claude-sonnet-5-5"
    assert "ANTHROPIC_API_KEY is set" in choice.why


def test_an_empty_key_is_ignored() -> None:
    assert choose({"OPENAI_API_KEY": " "}, None, lambda: OLLAMA, True).model == OLLAMA


def test_local_is_the_last_resort() -> None:
    choice = choose({}, None, nothing, True)
    assert choice.model == LOCAL
    assert [link.name for link in choice.chain] == [
        "flag, GOALWRIGHT_MODEL or configuration",
        "provider key",
        "Ollama",
        "embedded model",
    ]


def test_without_a_model_every_way_to_get_one_is_listed() -> None:
    with pytest.raises(SetupError) as caught:
        choose({}, None, nothing, False)
    assert caught.value.exit_status == 4
    for way in ("pip install 'goalwright[local]'", "OPENAI_API_KEY", "XAI_API_KEY", "ollama pull", "GOALWRIGHT_MODEL="):
        assert way in caught.value.hint
    assert [link.model for link in explore({}, None, nothing, False)] == [None] * 4


def test_error_contains_no_secret() -> None:
    choice = choose({"GROQ_API_KEY": "gsk-secret"}, None, nothing, False)
    assert "gsk-secret" not in repr(choice)


def test_the_listed_models_are_known_to_litellm_and_call_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    # Use litellm's bundled list of models instead of fetching it.
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    for provider in providers():
        _, known_as, *_ = litellm.get_llm_provider(provider.model)
        assert known_as == provider.name.lower()
        # OpenRouter's models are not in litellm's list; its router picks one that can.
        assert provider.name == "OpenRouter" or litellm.supports_function_calling(provider.model)
