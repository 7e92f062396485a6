"""JSON and TOML of strangers have a depth, whatever way they take to nest."""

from __future__ import annotations

import time

import pytest

from weft_skills.format.documents import TooDeep, parse_json, parse_toml

DEEP = {
    "lists": "a = " + "[" * 20_000 + "]" * 20_000,
    "tables": "a = " + "{a=" * 20_000 + "1" + "}" * 20_000,
    "a key": "a." * 400_000 + "b = 1",
    "a header": "[" + "a." * 20_000 + "b]",
    "headers": "\n".join(f"[[{'a.' * depth}a]]" for depth in range(1, 120)),
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_toml_that_nests_too_deeply_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(TooDeep, match="deeper than 100 levels"):
        parse_toml(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("text", ['\\"""\n' * 150_000, "a = '''" * 100_000, '"""' + "a" * 900_000 + "\\"])
def test_strings_that_never_close_take_no_longer_than_others(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match="at line"):
        parse_toml(text)
    assert time.process_time() - started < 5


def test_brackets_and_dots_in_strings_and_comments_do_not_nest() -> None:
    text = f'a = "{"[" * 500}"\nb = """{"[." * 500}"""\n# {"." * 500}\nc = [{"1.5," * 500}]\nd = \'{"." * 500}\'\n'
    assert parse_toml(text)["c"] == [1.5] * 500


def test_json_that_nests_too_deeply_is_refused() -> None:
    for depth in (101, 100_000):
        with pytest.raises(TooDeep):
            parse_json("[" * depth + "]" * depth)
    assert parse_json('[{"a": 1}]') == [{"a": 1}]
