"""The environment of a tool's process."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_skills.programs.environment import GRANTS, environment, is_secret_name

SCRATCH = Path("/scratch")
KEYS = [
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "azure_api_key", "GROQ_API_KEY", "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "WATSONX_APIKEY", "WATSONX_ZENAPIKEY",
    "HUGGING_FACE_HUB_TOKEN", "CODESTRAL_API_KEY", "VERTEXAI_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_CLIENT_SECRET", "SNOWFLAKE_JWT", "DATABRICKS_TOKEN", "GIGACHAT_CREDENTIALS", "Mistral_Api_Key",
]  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_provider_keys_are_never_passed(name: str) -> None:
    given = {name: "sk-1", "CITY": "Oslo"}
    for environ in (given, given | {GRANTS: name}):
        seen = environment(environ, [name, "CITY"], SCRATCH)
        assert name not in seen
        assert seen["CITY"] == "Oslo"
        assert GRANTS not in seen


@pytest.mark.parametrize(
    "name",
    [
        "MY_SERVICE_TOKEN", "TOKEN", "CI_TOKEN", "WEATHER_API_KEY", "SSHKEY", "STRIPE_KEY2", "GITLAB_PAT",
        "PGPASSWORD", "DB_PASS", "SMTP_PWD", "KEY_PASSPHRASE", "SSH_AUTH_SOCK", "HTTP_AUTHORIZATION", "TWILIO_AUTH",
        "SERVICE_CREDENTIALS", "SESSION_COOKIE", "SENTRY_DSN", "secretSauce", "PRIVATE_KEY_PATH", "NPM_AUTH_TOKEN",
        "NEWPROVIDER_APIKEY",
    ],
)  # fmt: skip
def test_secrets_are_passed_only_if_granted(name: str) -> None:
    environ = {name: "v4lue", "OTHER_TOKEN": "t"}
    assert name not in environment(environ, [name], SCRATCH)
    seen = environment(environ | {GRANTS: f"X, {name}"}, [name, "OTHER_TOKEN"], SCRATCH)
    assert seen[name] == "v4lue"
    assert "OTHER_TOKEN" not in seen


@pytest.mark.parametrize(
    "name",
    ["CITY", "WEATHER_CITY", "GOPATH", "KEYBOARD_LAYOUT", "AUTHOR_NAME", "TOKENIZERS_PARALLELISM",
     "PATTERN", "COMPASS", "BYPASS_CACHE", "HTTP_PROXY", "OPENAI_API_BASE", "AWS_REGION"],
)  # fmt: skip
def test_other_variables_are_passed(name: str) -> None:
    assert not is_secret_name(name)
    assert environment({name: "v"}, [name], SCRATCH)[name] == "v"


@pytest.mark.parametrize(
    "value",
    [
        "the-value-of-the-key",
        "postgres://app:hunter2@db.example/shop",
        "sk-proj-0123456789abcdefghij",
        "ghp_0123456789abcdefghij0123",
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    ],
)
def test_a_secret_value_under_a_harmless_name_is_not_passed(value: str) -> None:
    environ = {"SETTING": value, "OPENAI_API_KEY": "the-value-of-the-key"}
    assert "SETTING" not in environment(environ, ["SETTING"], SCRATCH)
    granted = environment(environ | {GRANTS: "SETTING"}, ["SETTING"], SCRATCH)
    assert ("SETTING" in granted) is (value != "the-value-of-the-key")


def test_only_named_variables_are_passed() -> None:
    seen = environment({"SECRET": "s", "LANG": "de_DE.UTF-8", "HOME": "/home/me"}, [], SCRATCH)
    assert "SECRET" not in seen
    assert (seen["LANG"], seen["HOME"]) == ("de_DE.UTF-8", "/scratch")
