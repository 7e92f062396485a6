"""Secrets are redacted by value, in every documented form, and by the form of keys and webhook addresses."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest

from goalwright_executor.capture.secrets import REDACTED, Secrets

PLAIN = "k3y+of/mine=0123456789-abcdef"
ODD = 'we"ird\\ tök/en+va=lü&e#7'
KEY = "-----BEGIN THING-----\nMIIBlineone/abc+def==\nsecondlineofkey0987\n-----END THING-----"


@pytest.mark.parametrize("secret", [PLAIN, ODD, KEY], ids=["plain", "odd", "lines"])
@pytest.mark.parametrize("around", ["see {} there", '{{"out": "{}"}}', "{}", "TOKEN={}\n"])
def test_a_secret_is_redacted_in_every_documented_form(secret: str, around: str) -> None:
    secrets, data = Secrets.of({"MY_API_KEY": secret}), secret.encode()
    forms = {
        "literal": secret,
        "JSON": json.dumps(secret)[1:-1],
        "JSON with Unicode": json.dumps(secret, ensure_ascii=False)[1:-1],
        "URL": quote(secret, safe=""),
        "URL in lower case": re.sub("%..", lambda code: code[0].lower(), quote(secret, safe="")),
        "path": quote(secret),
        "form": quote_plus(secret),
        "base64": b64encode(data).decode(),
        "base64 for URLs": urlsafe_b64encode(data).decode(),
        "basic authentication": b64encode(b"user:" + data).decode(),
        "base64 between other bytes": b64encode(b"me:" + data + b"!").decode(),
    }
    for name, text in forms.items():
        redacted = secrets.redact(around.format(text))
        assert REDACTED in redacted, name
        remaining = redacted.replace(REDACTED, "")
        assert not any(text[offset : offset + 12] in remaining for offset in range(0, len(text) - 12, 4)), name
        assert secrets.reveals(around.format(text)), name


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n    ", "\\n"])
def test_each_line_of_a_multi_line_key_is_redacted(line_end: str) -> None:
    for variable in (KEY, KEY.replace("\n", "\\n")):
        redacted = Secrets.of({"DEPLOY_KEY": variable}).redact(line_end.join(KEY.splitlines()))
        assert "MIIBlineone" not in redacted
        assert "secondline" not in redacted


def test_encoded_text_without_a_secret_stays() -> None:
    secrets = Secrets.of({"MY_API_KEY": PLAIN})
    for text in (
        "a \\u0026 b \\x41 %20 %2520 &#38; 0x5a, 0x71",
        b64encode(b"nothing to see here, and more of it").decode(),
        "f" * 4_000,
    ):
        assert secrets.redact(text) == text


@pytest.mark.parametrize(
    ("name", "value", "password"),
    [
        ("DATABASE_URL", "postgres://app:hunter2-and-more@db.example/shop", "hunter2-and-more"),
        ("DATABASE_URL", "postgres://app:p%40ss%2Fw0rd-x@db.example/shop", "p@ss/w0rd-x"),
        ("REDIS", "redis://:r3dis-passw0rd@cache:6379/0", "r3dis-passw0rd"),
        ("HTTPS_PROXY", "http://me:pr0xy-w0rd@proxy:3128", "pr0xy-w0rd"),
        ("MYSQL_DSN", "app:my-sql-pw-1@tcp(db:3306)/shop", "my-sql-pw-1"),
        ("ODBC", "Server=db;Uid=me;Pwd=sqlserver-9;", "sqlserver-9"),
        ("AMQP", "amqp://me:correcthorsebattery@mq/", "correcthorsebattery"),
    ],
)
def test_passwords_inside_any_variable_are_redacted(name: str, value: str, password: str) -> None:
    assert password not in Secrets.of({name: value}).redact(f"log in with {password} now")


@pytest.mark.parametrize("value", ["postgres://postgres:postgres@localhost/x", "http://user:password@host", "a=b@c:d"])
def test_passwords_that_are_plain_words_stay(value: str) -> None:
    text = "the user has a password for postgres"
    assert Secrets.of({"DATABASE_URL": value}).redact(text) == text


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https:\\/\\/hooks.slack.com\\/services\\/T00000000\\/B00000000\\/XXXXXXXXXXXXXXXXXXXXXXXX",
        "hooks.slack.com/workflows/T0/A0/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://discord.com/api/webhooks/1234567890/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://discordapp.com/api/v10/webhooks/1234567890/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://acme.webhook.office.com/webhookb2/1b2c@3d4e/IncomingWebhook/XXXXXXXXXXXXXXXXXXXXXXXX/5f6a",
        "https://outlook.office.com/webhook/1b2c@3d4e/IncomingWebhook/XXXXXXXXXXXXXXXXXXXXXXXX/5f6a",
        "https://api.telegram.org/bot123456:XXXXXXXXXXXXXXXXXXXXXXXX/sendMessage",
    ],
)
def test_webhook_addresses_are_redacted(url: str) -> None:
    redacted = Secrets().redact(f"post to {url} at nine")
    assert "XXXX" not in redacted
    assert "T00000000" not in redacted
    assert redacted.endswith(f"{REDACTED} at nine")


def test_the_value_of_a_webhook_variable_is_redacted() -> None:
    assert "hook/me" not in Secrets.of({"ALERT_WEBHOOK_URL": "https://x.example/hook/me"}).redact(
        "to https://x.example/hook/me"
    )


@pytest.mark.parametrize(
    "token",
    [
        "ghp_0123456789abcdefghijABCDEFGHIJ", "github_pat_0123456789abcdefghij_ABCDEF", "xoxb-0123456789-abcdefghij",
        "xoxa-2-0123456789-abcdef", "xoxp-0123456789-abcdefghij", "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE",
        "glpat-0123456789abcdefghij",
        "AIzaSyA0123456789abcdefghijABCDEFGHIJ", "sk-0123456789abcdefghij", "sk-ant-api03-0123456789abcdefghij",
        "npm_0123456789abcdefghijABCDEFGHIJ012345", "hf_0123456789abcdefghijABCDEFGHIJ", "gho_0123456789abcdefghij",
        "pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlMDEy",
        "sk_live_0123456789abcdefghij",
    ],
)  # fmt: skip
def test_tokens_of_known_forms_are_redacted(token: str) -> None:
    for before, after in (("", ""), ("use ", " now"), ('"', '"'), ("one ghp_short and ", "\nnext")):
        redacted = Secrets().redact(f"{before}{token}{after}")
        assert token[8:] not in redacted
        assert redacted.startswith(before)
        assert redacted.endswith(after)


@pytest.mark.parametrize(
    "text",
    [
        "a webhook is an address to post to; see https://hooks.slack.com/ for more",
        "100% of 20%2b is escaped as %2B",
        "the hook of npm_config is read; sk_live_ is a prefix",
        "key of mine, 0123456789 abcdef",
    ],
)
def test_text_that_only_resembles_a_secret_stays(text: str) -> None:
    assert Secrets.of({"MY_API_KEY": PLAIN}).redact(text) == text


def test_only_secrets_of_the_environment_count_as_revealed() -> None:
    secrets = Secrets.of({"OPENAI_API_KEY": "A7h2-bXq9/TzW4mNs8"})
    assert secrets.reveals("key A7h2-bXq9/TzW4mNs8")
    assert not secrets.reveals("sk-0123456789abcdef0123 is an example, A7h2-bXq9 is half of one")
