"""Secrets are found in disguise: re-encoded, broken up, or inside another value."""

from __future__ import annotations

import base64
import textwrap
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from goalwright_executor.capture.secrets import REDACTED, Secrets

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "k3y+of/mine=0123456789-abcdef"
BODY = "".join(b64encode(bytes(range(at, at + 48))).decode() for at in range(0, 192, 48))
PEM = "-----BEGIN OPENSSH KEY-----\n" + "\n".join(textwrap.wrap(BODY, 64)) + "\n-----END OPENSSH KEY-----"


@pytest.fixture
def secrets() -> Secrets:
    return Secrets.of({"MY_API_KEY": SECRET, "DEPLOY_KEY": PEM})


@pytest.mark.parametrize(
    "text",
    [
        SECRET.encode().hex().upper(),
        SECRET.encode().hex().title(),
        SECRET.encode().hex(":"),
        SECRET.encode().hex(" ").upper(),
        "k3y+\nof/mine=0123456789-abcdef",
        "k3y+of/mi\nne=0123456789-abc\ndef",
        "k3y%2bof%2fmine%3d0123456789-abcdef",
        "k3y%2Bof%2fmine%3D0123456789-abcdef",
        "k3y%2bof/mine=0123456789-abcdef",
        "k3y%2Bof%2fmine=0123456789%2dabcdef",
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        "k3y+of/mine=0\n123456789-abcdef",
        "k3y+of/mine=\\\n    0123456789-abcdef",
        "k3y+of/mine= 0123456789 -abcdef",
        "k3y+of/mine=0\\n123456789-abcdef",
        'k3y+of/mine="\n  "0123456789-abcdef',
        "k3y+of/mine=' + '0123456789-abcdef",
        "k3y+of/mine=\r\n0123456789\r\n-abcdef",
    ],
)
def test_a_secret_is_found_however_it_is_written(secrets: Secrets, text: str) -> None:
    redacted = secrets.redact(f"see {text} there")
    assert redacted == f"see {REDACTED} there"


def _twice(text: str, encode: Callable[[bytes], bytes] = b64encode) -> str:
    return encode(encode(text.encode())).decode()


DISGUISES = {
    "JSON escapes of any character": "".join(f"\\u{ord(one):04x}" for one in SECRET),
    "JSON escapes, in capitals": "".join(f"\\u{ord(one):04X}" for one in SECRET),
    "some JSON escapes, as Go writes them": "k3y\\u002bof/mine\\u003d0123456789-abcdef",
    "JSON escapes in JSON": SECRET.replace("+", "\\\\u002b"),
    "JavaScript's escapes": "".join(f"\\u{{{ord(one):x}}}" for one in SECRET),
    "\\x escapes": "".join(f"\\x{byte:02x}" for byte in SECRET.encode()),
    "some \\x escapes": SECRET.replace("k", "\\x6b").replace("-", "\\x2D"),
    "octal escapes": "".join(f"\\{byte:03o}" for byte in SECRET.encode()),
    "a list of numbers": ", ".join(f"0x{byte:02x}" for byte in SECRET.encode()),
    "a list of numbers in capitals": ",".join(f"0X{byte:02X}" for byte in SECRET.encode()),
    "hex in groups of two bytes": SECRET.encode().hex(" ", -2),
    "hex in groups of four bytes, in capitals": SECRET.encode().hex(" ", -4).upper(),
    "hex with underscores": SECRET.encode().hex("_", 2),
    "hex over lines": "\n".join(textwrap.wrap(SECRET.encode().hex(), 16)),
    "a URL twice": quote(quote(SECRET, safe=""), safe=""),
    "a URL three times": quote(quote(quote(SECRET, safe=""), safe=""), safe=""),
    "every character of a URL, twice": "".join(f"%25{byte:02X}" for byte in SECRET.encode()),
    "HTML's numbers": "".join(f"&#{ord(one)};" for one in SECRET),
    "HTML's hex": "".join(f"&#x{ord(one):x};" for one in SECRET),
    "base64 twice": _twice(SECRET),
    "base64 twice, for URLs": _twice(SECRET, urlsafe_b64encode),
    "base64 twice, behind a name": _twice(f"user:{SECRET}"),
    "base64 twice, in front of more": _twice(f"{SECRET} and more"),
    "base64 twice, aligned otherwise": b64encode(b"ab" + b64encode(SECRET.encode())).decode(),
    "base64 of UTF-16": b64encode(SECRET.encode("utf-16")).decode(),
    "base64 of UTF-16, little end first": b64encode(SECRET.encode("utf-16-le")).decode(),
    "base64 of UTF-16, big end first": b64encode(SECRET.encode("utf-16-be")).decode(),
    "base64 of UTF-16, behind more": b64encode(("x = " + SECRET).encode("utf-16-le")).decode(),
    "base64 of a URL": b64encode(quote(SECRET, safe="").encode()).decode(),
}


@pytest.mark.parametrize("text", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize("around", ["see {} there", '{{"out": "{}"}}', "{}", "TOKEN={}\n"])
def test_a_secret_is_found_in_every_disguise(secrets: Secrets, text: str, around: str) -> None:
    redacted = secrets.redact(around.format(text))

    assert REDACTED in redacted
    for size in (len(text) // 2, 16):  # no half of it is left either
        assert not any(text[at : at + size] in redacted for at in range(0, len(text) - size, 4))
    assert secrets.reveals(around.format(text))


@pytest.mark.parametrize("secret", ["Zq9/&x7!pL", "päss&wörd-42!", "a?b~c>d/e+f0123456"])
def test_disguises_of_short_and_unusual_secrets_are_found(secret: str) -> None:
    secrets = Secrets.of({"DB_PASSWORD": secret})
    for text in (
        "".join(f"\\u{ord(one):04x}" for one in secret),
        "".join(f"\\x{byte:02x}" for byte in secret.encode()),
        quote(quote(secret, safe=""), safe=""),
        secret.encode().hex(" ", -2),
        _twice(secret),
        b64encode(secret.encode("utf-16-le")).decode(),
    ):
        assert REDACTED in secrets.redact(f"out: {text} end"), text


def test_texts_that_only_look_encoded_stay(secrets: Secrets) -> None:
    for text in (
        "a \\u0026 b \\x41 %20 %2520 &#38; 0x5a, 0x71, 0x39 5a71 392f",
        b64encode(b64encode(b"nothing to see here, and more of it")).decode(),
        "skills/goalwright_skills/confinement/LandlockBoxOfTheMachine/AnotherLongName",
        "f" * 4_000,
        "\\u4e2d\\u6587" * 200,
    ):
        assert secrets.redact(text) == text


@pytest.mark.parametrize("width", [40, 64, 70, 76, 192])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\\n", "\n    "])
def test_the_body_of_a_key_is_found_with_lines_of_any_length(secrets: Secrets, width: int, end: str) -> None:
    redacted = secrets.redact(end.join(textwrap.wrap(BODY, width)))
    assert not any(BODY[at : at + 16] in redacted for at in range(len(BODY) - 16))


def test_a_key_with_escaped_line_ends_in_its_variable_is_found_line_by_line() -> None:
    secrets = Secrets.of({"DEPLOY_KEY": PEM.replace("\n", "\\n")})
    for text in (PEM, BODY, textwrap.wrap(BODY, 64)[1]):
        assert BODY[70:100] not in secrets.redact(text)


def test_a_long_secret_in_base64_is_found_across_lines() -> None:
    long = "t0ken-" + "0123456789abcdef" * 6
    wrapped = "\n".join(textwrap.wrap(b64encode(long.encode()).decode(), 76))
    assert "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3" not in Secrets.of({"X_TOKEN": long}).redact(wrapped)


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
def test_the_password_inside_any_variable_is_a_secret(name: str, value: str, password: str) -> None:
    assert password not in Secrets.of({name: value}).redact(f"log in with {password} now")


@pytest.mark.parametrize("value", ["postgres://postgres:postgres@localhost/x", "http://user:password@host", "a=b@c:d"])
def test_a_password_that_is_a_plain_word_does_not_empty_texts(value: str) -> None:
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
def test_the_address_of_a_webhook_is_a_secret(url: str) -> None:
    redacted = Secrets().redact(f"post to {url} at nine")
    assert "XXXX" not in redacted
    assert "T00000000" not in redacted
    assert redacted.endswith(f"{REDACTED} at nine")


def test_a_variable_that_names_a_webhook_holds_a_secret() -> None:
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
def test_a_token_is_known_by_its_form(token: str) -> None:
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
def test_what_only_looks_similar_stays(secrets: Secrets, text: str) -> None:
    assert secrets.redact(text) == text


def test_a_text_reveals_a_known_secret_in_any_form_but_not_what_only_looks_like_one() -> None:
    key = "A7h2-bXq9/TzW4mNs8"
    secrets = Secrets.of({"OPENAI_API_KEY": key})
    encoded = base64.b64encode(f"user:{key}".encode()).decode()
    for text in (
        f"key {key}",
        f"Basic {encoded}",
        key.encode().hex().upper(),
        key.replace("/", "%2f"),
        "A7h2-bXq9\n/TzW4mNs8",
    ):
        assert secrets.reveals(text), text
    assert not secrets.reveals("sk-0123456789abcdef0123 is an example, A7h2-bXq9 is half of one")
