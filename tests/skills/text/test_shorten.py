"""Text on one line, cut to a width."""

from __future__ import annotations

import pytest

from goalwright_skills.text.shorten import cut, one_line, shorten


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 5, "short"),
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one, two three", 9, "one, two…"),
        ("unbreakable", 6, "unbre…"),
        ("a unbreakable", 8, "a unbre…"),
        ("one two, three", 10, "one two…"),
    ],
)
def test_a_line_is_cut_at_the_end_of_a_word_that_is_not_too_far_back(text: str, width: int, line: str) -> None:
    assert cut(text, width) == line
    assert len(line) <= width


def test_white_space_becomes_single_spaces() -> None:
    assert one_line(" a\n\tb  c ") == "a b c"
    assert shorten("a\n\nb  c", 4) == "a b…"
