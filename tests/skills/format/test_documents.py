"""JSON and TOML of strangers have a depth, whatever way they take to nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.format.documents import TooDeep, parse_json, parse_toml
from tests.growth import growth

if TYPE_CHECKING:
    from collections.abc import Callable

DEEP: dict[str, Callable[[int], str]] = {
    "lists": lambda count: "a = " + "[" * count + "]" * count,
    "tables": lambda count: "a = " + "{a=" * count + "1" + "}" * count,
    "a key": lambda count: "a." * count + "b = 1",
    "a header": lambda count: "[" + "a." * count + "b]",
    "headers": lambda count: "\n".join(f"[[{'a.' * depth}a]]" for depth in range(1, min(count, 120))),
}
UNCLOSED: dict[str, Callable[[int], str]] = {
    "many quotes": lambda count: '\\"""\n' * count,
    "many texts": lambda count: "a = '''" * count,
    "one text": lambda count: '"""' + "a" * (6 * count) + "\\",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_toml_that_nests_too_deeply_is_refused_at_once(text: Callable[[int], str]) -> None:
    def refused(count: int) -> None:
        with pytest.raises(TooDeep, match="deeper than 100 levels"):
            parse_toml(text(count))

    assert growth(refused, 2_000, 20_000) < 1, "a key that is parsed takes the square of its length"


@pytest.mark.parametrize("text", UNCLOSED.values(), ids=UNCLOSED)
def test_unclosed_strings_are_parsed_in_linear_time(text: Callable[[int], str]) -> None:
    def refused(count: int) -> None:
        with pytest.raises(ValueError, match="at line"):
            parse_toml(text(count))

    assert growth(refused, 8_000, 80_000) < 1.5


def test_brackets_and_dots_in_strings_and_comments_do_not_nest() -> None:
    text = f'a = "{"[" * 500}"\nb = """{"[." * 500}"""\n# {"." * 500}\nc = [{"1.5," * 500}]\nd = \'{"." * 500}\'\n'
    assert parse_toml(text)["c"] == [1.5] * 500


def test_json_that_nests_too_deeply_is_refused() -> None:
    for depth in (101, 100_000):
        with pytest.raises(TooDeep):
            parse_json("[" * depth + "]" * depth)
    assert parse_json('[{"a": 1}]') == [{"a": 1}]
