"""YAML files keep the line of every value, and hold the values of JSON only."""

from __future__ import annotations

import pytest

from goalwright_skills.format.yaml_lines import SIZE_LIMIT, Document, DocumentError, Spot

TEXT = """\
name: a
tools:
  - name: b
    env: [X,
      Y]
  - name: c
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ((), 1),
        (("name",), 1),
        (("tools",), 2),
        (("tools", 0), 3),
        (("tools", 0, "env"), 4),
        (("tools", 0, "env", 1), 5),
        (("tools", 1, "name"), 6),
        (("tools", 1, "absent", 7), 6),
        (("absent",), 1),
    ],
)
def test_line_returns_the_line_of_a_value_or_of_its_parent(keys: tuple[str | int, ...], line: int) -> None:
    assert Document.parse(TEXT).line(keys) == line


def test_a_spot_falls_back_to_the_keys_at_the_top() -> None:
    spot = Spot(Document.parse("runtime: python\n" + TEXT), ("tools", 1))
    assert (spot.line("name"), spot.line("runtime"), spot.line("absent")) == (7, 1, 7)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-02", "2024-01-02"),
        ("!!timestamp 2024-01-02", "2024-01-02"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("0x1F", 31),
        ("1_000", 1000),
        ("yes", True),
        ("~", None),
        ("1.5", 1.5),
        ("!!str 7", "7"),
    ],
)
def test_values_are_those_of_yaml_with_dates_as_text(text: str, value: object) -> None:
    assert Document.parse(f"key: {text}\n").data == {"key": value}


def test_merge_keys_and_aliases_work() -> None:
    text = "base: &base {a: 1, b: 2}\nown:\n  <<: *base\n  b: 3\nsame: *base\n"
    assert Document.parse(text).data == {"base": {"a": 1, "b": 2}, "own": {"a": 1, "b": 3}, "same": {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: 1\nb: !!python/object/apply:os.system ['true']\n", 2, "constructor"),
        ("a: 1\nb: !!binary aGk=\n", 2, "constructor"),
        ("a: 1\nb: !!set {x}\n", 2, "constructor"),
        ("a: 1\nb: 'open\nc: 2\n", 2, "end of stream"),
        ("a: 1\nb: [1\nc: 2\n", 3, "expected"),
        ("a: 1\n\x07\n", 1, "unacceptable character"),
        ("a: &a [*a]\n", 1, "too many values"),
        ("[" * 1_000, 1, ""),
        ("x" * (SIZE_LIMIT + 1), 1, "too large"),
    ],
)
def test_invalid_documents_are_reported_with_line_fault_and_remedy(text: str, line: int, what: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Document.parse(text)
    assert what in caught.value.what
    assert caught.value.line == line
    assert caught.value.remedy


def test_brackets_may_be_nested_three_hundred_levels_deep() -> None:
    assert Document.parse("[" * 300 + "]" * 300).data
    with pytest.raises(DocumentError, match="is nested too deeply"):
        Document.parse("[" * 301 + "]" * 301)
