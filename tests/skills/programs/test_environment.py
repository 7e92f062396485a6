"""What a tool's process sees of the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.programs.environment import environment


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "azure_api_key", "GROQ_API_KEY"])
def test_a_providers_key_is_not_passed_even_where_the_manifest_names_it(name: str) -> None:
    seen = environment({name: "sk-1", "MY_SERVICE_TOKEN": "t"}, [name, "MY_SERVICE_TOKEN"], Path("/scratch"))
    assert name not in seen
    assert seen["MY_SERVICE_TOKEN"] == "t"


def test_only_what_is_named_is_passed() -> None:
    seen = environment({"SECRET": "s", "LANG": "de_DE.UTF-8", "HOME": "/home/me"}, [], Path("/scratch"))
    assert "SECRET" not in seen
    assert (seen["LANG"], seen["HOME"]) == ("de_DE.UTF-8", "/scratch")
