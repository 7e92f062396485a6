"""The list of keys and providers agrees with litellm's."""

from __future__ import annotations

import pytest

from goalwright.models.litellm import keys, lifecycle
from goalwright.models.model_check import check_names
from goalwright_planner.errors import ModelError


@pytest.mark.slow
def test_the_list_agrees_with_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    for names in keys.KEYS.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    litellm = lifecycle.load()
    known = {str(getattr(one, "value", one)) for one in litellm.provider_list}
    assert {*keys.KEYS, *keys.OTHERS} <= known
    for provider, names in keys.KEYS.items():
        missing = litellm.validate_environment(f"{provider}/some-model")["missing_keys"]
        assert set(missing) & set(names), provider
        monkeypatch.setenv(names[0], "sk-some-key")
        assert keys.missing_key(f"{provider}/some-model", {names[0]: "sk"}) == ()


@pytest.mark.parametrize(
    ("name", "env", "says"),
    [
        ("openai/gpt-4o", {}, "set OPENAI_API_KEY"),
        ("openai/gpt-4o", {"OPENAI_API_KEY": " "}, "set OPENAI_API_KEY"),
        ("gemini/gemini-2.5-pro", {}, "set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("opnai/gpt-4o", {"OPENAI_API_KEY": "sk"}, "did you mean openai/gpt-4o?"),
        ("antropic/claude", {}, "did you mean anthropic/claude?"),
    ],
)
def test_missing_key_or_misspelt_provider_is_reported_before_the_run(name: str, env: dict[str, str], says: str) -> None:
    with pytest.raises(ModelError) as raised:
        check_names([name], env)
    assert says in (raised.value.hint or "")
    assert raised.value.exit_status == 4


@pytest.mark.parametrize(
    ("name", "env"),
    [
        ("openai/gpt-4o", {"OPENAI_API_KEY": "sk"}),
        ("gemini/x", {"GOOGLE_API_KEY": "k"}),
        ("gpt-4o", {}),
        ("local", {}),
        ("local/qwen", {}),
        ("some-new-provider/x", {}),
        ("ollama_chat/qwen3:4b", {}),
        ("meta-llama/Llama-3", {}),
    ],
)
def test_unlisted_provider_is_left_to_litellm(name: str, env: dict[str, str]) -> None:
    check_names([name], env)
