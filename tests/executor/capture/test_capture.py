"""Recorded values contain no secrets, and their paths are valid in another checkout."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_executor.capture.capture import Capture
from goalwright_executor.capture.json_text import encode
from goalwright_executor.capture.named_roots import NamedRoots
from goalwright_executor.capture.secrets import REDACTED, Secrets
from goalwright_executor.stores import texts
from goalwright_planner.events import PlanMade, ToolCalled
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

ROOTS = NamedRoots({"run": "/home/me/work/.agents/runs/r1", "workspace": "/home/me/work", "home": "/home/me"})


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        ("read /home/me/work/notes.md.", "read ⟦workspace⟧/notes.md."),
        ("/home/me/work", "⟦workspace⟧"),
        ("/home/me/work/.agents/runs/r1/artifacts/a.md", "⟦run⟧/artifacts/a.md"),
        ("/home/me/workshop/x", "⟦home⟧/workshop/x"),
        ("/mnt/home/me/work/x", "/mnt/home/me/work/x"),
        ("file:///home/me/work/x", "file://⟦workspace⟧/x"),
        ('{"cwd": "/home/me/work"}', '{"cwd": "⟦workspace⟧"}'),
        ("two\n/home/me/work\nlines", "two\n⟦workspace⟧\nlines"),
        ("no path at all", "no path at all"),
    ],
)
def test_paths_below_a_root_are_recorded_relative_to_its_name(text: str, recorded: str) -> None:
    assert ROOTS.portable(text) == recorded
    assert ROOTS.local(recorded) == text


def test_recorded_paths_refer_to_the_folders_of_the_current_checkout() -> None:
    there = NamedRoots({"workspace": "/srv/checkout"})
    assert there.local(ROOTS.portable("see /home/me/work/a/b.md")) == "see /srv/checkout/a/b.md"
    assert there.local("⟦unknown⟧/x") == "⟦unknown⟧/x"


def test_a_root_is_replaced_and_restored_in_xml_listings() -> None:
    odd = NamedRoots({"workspace": "/srv/R&D <x>"})
    listed = "<location>/srv/R&amp;D &lt;x&gt;/skills/a</location>, /srv/R&D <x>/b"
    assert odd.portable(listed) == "<location>⟦workspace⟧/skills/a</location>, ⟦workspace⟧/b"
    assert odd.local(odd.portable(listed)) == listed


def test_roots_with_different_first_characters_are_replaced() -> None:
    mixed = NamedRoots({"workspace": "/srv/w", "share": "C:\\share"})
    assert mixed.portable("/srv/w/a and C:\\share/b, xC:\\share") == "⟦workspace⟧/a and ⟦share⟧/b, xC:\\share"


def test_a_hash_is_the_same_in_another_checkout() -> None:
    here, there = Capture(ROOTS), Capture(NamedRoots({"workspace": "/srv/checkout"}))
    assert here.hash(["a\n/home/me/work/x"]) == there.hash(["a\n/srv/checkout/x"])
    assert here.hash(["a"]) != here.hash(["b"])


SECRET = "k3y-of-mine-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        f"the key is {SECRET}",
        "Authorization: Bearer abcdef0123456789abcdef",
        '{"api_key": "0a1b2c3d4e5f6071"}',
        '{\\"api_key\\": \\"0a1b2c3d4e5f6071\\"}',
        "DB_PASSWORD=correct-horse-7-battery",
        "use sk-proj-0123456789abcdefghij now",
        "ghp_0123456789abcdefghijABCDEFGHIJ",
        "postgres://me:hunter2@db/x",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_secret_is_redacted_by_value_name_or_form(text: str) -> None:
    secrets = Secrets.of({"MY_API_KEY": SECRET, "PATH": "/usr/bin"})
    redacted = secrets.redact(text)
    assert REDACTED in redacted
    for part in (
        SECRET,
        "abcdef0123456789abcdef",
        "0a1b2c3d",
        "correct-horse",
        "0123456789abcdefghij",
        "hunter2",
        "MIIE",
    ):
        assert part not in redacted
    assert secrets.redact(redacted) == redacted


@pytest.mark.parametrize(
    "name", ["PGPASSWORD", "MYSQL_PWD", "DB_PASS", "GPG_PASSPHRASE", "GITHUB_PAT", "GHTOKEN", "OPENAI_API_KEY"]
)
def test_values_of_secret_variables_are_redacted(name: str) -> None:
    assert Secrets.of({name: SECRET}).redact(SECRET) == REDACTED


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "PATH", "MONKEY_ISLAND", "COMPASS", "TOKENIZERS_PARALLELISM"])
def test_values_of_other_variables_stay(name: str) -> None:
    assert Secrets.of({name: "/home/me/work"}).redact("see /home/me/work/x") == "see /home/me/work/x"


def test_secrets_in_field_names_are_redacted() -> None:
    capture = Capture(secrets=Secrets.of({"MY_API_KEY": "identifier0123"}))
    assert capture.value({"identifier0123": 1, "a": {"ghp_0123456789abcdefghij": 2}, "tool_calls": 3}) == {
        REDACTED: 1, "a": {REDACTED: 2}, "tool_calls": 3,
    }  # fmt: skip


@pytest.mark.parametrize("before", ["", "İİİ ", "task-force ", "max_tokens = 5; ", "a risk-", "é — "])
@pytest.mark.parametrize("after", ["", " İ", " token: none", "\n" + "word " * 100])
def test_a_secret_is_redacted_at_any_position(before: str, after: str) -> None:
    secrets = Secrets.of({"MY_API_KEY": SECRET, "OTHER_TOKEN": f"{SECRET}-and-more"})
    for secret in (SECRET, f"{SECRET}-and-more", "sk-proj-0123456789abcdefghij", "AKIA0123456789ABCDEF"):
        assert secrets.redact(f"{before}{secret}{after}") == f"{before}{REDACTED}{after}"
    assert secrets.redact(f"{before}ApI_KeY: a1b2c3d4e5f6g7{after}") == f"{before}ApI_KeY: {REDACTED}{after}"


@pytest.mark.parametrize(
    "text",
    [
        "a token: explained in a sentence",
        "max_tokens: 4096",
        "The password must be changed.",
        "key=value",
        "see https://example.org/a:b@c",
        "secret: none",
    ],
)
def test_texts_that_mention_secrets_stay(text: str) -> None:
    assert Secrets.of({"SHORT_TOKEN": "abc"}).redact(text) == text


def test_a_short_secret_is_redacted_only_as_a_whole_word() -> None:
    secrets = Secrets.of({"DB_PASSWORD": "hunter2", "PIN_SECRET": "a-1b", "API_TOKEN": "tok3n-0123456789"})
    assert secrets.redact("log in with hunter2, or 'a-1b'") == f"log in with {REDACTED}, or '{REDACTED}'"
    assert secrets.redact("hunter2") == REDACTED
    assert secrets.redact("hunter2x and xa-1b") == "hunter2x and xa-1b"
    assert Capture(secrets=secrets).text("a-1b") == REDACTED


@pytest.mark.parametrize("value", ["test", "true", "root", "Secret", "2026", "1234567", "x1", "a1b"])
def test_short_words_and_numbers_stay(value: str) -> None:
    text = f"write a {value} plan"
    assert Secrets.of({"API_KEY": value}).redact(text) == text


def test_fields_with_secret_names_are_redacted() -> None:
    recorded = Capture().value({"params": {"password": "short", "key": "x", "max_tokens": 5}, "token": ""})
    assert recorded == {"params": {"password": REDACTED, "key": "x", "max_tokens": 5}, "token": ""}
    given = {"headers": {"Authorization": ["Basic abc", ""]}, "clientSecret": "short", "tokenizer": "bpe"}
    recorded = {"headers": {"Authorization": [REDACTED, ""]}, "clientSecret": REDACTED, "tokenizer": "bpe"}
    assert Capture().value(given) == recorded
    paths = {"next_page_token": "p2", "nextToken": "p3", "pageToken": "p4"}
    assert Capture().value(paths) == paths


# Large texts repeat a few characters, because drawing hundreds of characters is slow.
any_size = st.builds(lambda text, times: text * times, st.text(max_size=20), st.sampled_from([1, 400]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_size,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.just("$text"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_large_texts_are_split_off_and_joined_again(value: object) -> None:
    kept: dict[str, str] = {}
    small = texts.split(value, kept)
    assert texts.join(small, kept.__getitem__) == value
    assert set(texts.hashes(small)) <= set(kept)


def test_a_repeated_long_list_is_stored_once() -> None:
    kept: dict[str, str] = {}
    skills = [{"name": f"skill-{number}", "description_hash": "0" * 64, "$json": "own"} for number in range(20)]
    small = texts.split({"skills": skills, "again": list(skills)}, kept)
    assert len(kept) == 1
    assert texts.join(small, kept.__getitem__) == {"skills": skills, "again": skills}
    assert set(texts.hashes(small)) == set(kept)


@pytest.mark.parametrize("key", ["$text", "$json", "$$json"])
def test_fields_named_like_markers_survive(key: str) -> None:
    value, kept = {key: "of the user's"}, dict[str, str]()
    assert texts.join(texts.split(value, kept), kept.__getitem__) == value


def test_a_repeated_large_text_is_stored_once() -> None:
    kept: dict[str, str] = {}
    long = "word " * 200
    assert texts.split([long, {"a": long}], kept) != [long, {"a": long}]
    assert list(kept.values()) == [long]


@pytest.mark.parametrize("text", ["⟦workspace⟧/literal", "⟦run⟧", "⟦=⟧", "⟦", "see /w/notes.md and ⟦workspace⟧"])
def test_text_that_resembles_a_root_name_is_escaped(text: str) -> None:
    capture = Capture(NamedRoots({"run": "/w/.agents/runs/r", "workspace": "/w"}))
    assert capture.local(capture.text(text)) == text


def test_deeply_nested_values_are_truncated() -> None:
    deep: dict[str, Any] = {"end": "here"}
    for _ in range(5_000):
        deep = {"a": deep}
    found = Capture().event(ToolCalled("t", "echo", {"status": "success", "data": deep}, "c"))
    assert (found["name"], found["envelope"]["status"]) == ("echo", "success")
    assert "…" in str(found["envelope"]["data"])


def test_tool_hashes_are_shared_between_runs_unless_they_contain_a_path() -> None:
    first = Capture(ROOTS)
    second = Capture(
        NamedRoots({"run": "/home/me/work/.agents/runs/r2", "workspace": "/home/me/work"}), shared=first.shared
    )
    alone = Capture(second.roots)
    plain = ("read", "Reads a file.", {"type": "object"})
    named = ("read", "Reads a file of /home/me/work/.agents/runs/r1.", {"type": "object"})
    other = ("read", "Reads a file.", {"type": "object", "required": ["path"]})
    for tool in (plain, named, other, plain):
        first.hash_of_tool(*tool)
        assert second.hash_of_tool(*tool) == alone.hash(list(tool)), tool
    assert first.hash_of_tool(*named) != second.hash_of_tool(*named)
    assert first.shared.hash_of(*plain) == first.hash(list(plain))
    assert first.shared.hash_of(*named) is None


@pytest.mark.parametrize(
    "value",
    [
        "say zq71-zk81-4x",
        "use sk-abcdefgh12345678zz",
        "token=abc123456789def",
        {"password": "short"},
        {"deep": [{"api_key": "short"}]},
    ],
)
def test_secrets_in_plans_with_repeated_words_are_redacted(value: Any) -> None:
    tasks = [Task(f"t{number}", "tool", name="a_b", arguments={"x": "plain"}) for number in range(20)]
    arguments = {"x": value} if isinstance(value, str) else value
    plan = Plan((*tasks, Task("last", "tool", name="a_b", arguments=arguments, depends_on=("t1",))))
    capture = Capture(secrets=Secrets.of({"MY_TOKEN": "zq71-zk81-4x"}))

    recorded = encode(capture.event(PlanMade(plan, 1)))

    assert REDACTED in recorded
    assert capture.hash_of_task(tasks[0], ["plain"]) == Capture().hash_of_task(tasks[0], ["plain"])
