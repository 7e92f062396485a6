"""Whether a goal is worded like a pattern, and what it has in place of the parameters."""

from __future__ import annotations

import pytest

from goalwright.runs.recipes.pattern import LIKE, Pattern
from goalwright.runs.recipes.phrases import phrases

REPORT = Pattern("Write a weekly report for the {team} from {file}", {"team": "sales team", "file": "notes.md"})


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ("Write a weekly report for the sales team from notes.md", {"team": "sales team", "file": "notes.md"}),
        ("please write the weekly report for marketing from a/b.txt!", {"team": "marketing", "file": "a/b.txt"}),
        ("Draft weekly reports for the new design team from the log.md", {"team": "new design team", "file": "log.md"}),
        ('Write a weekly report for "R and D" from log.md', {"team": "R and D", "file": "log.md"}),
    ],
)
def test_a_goal_of_the_same_wording_gives_the_values(goal: str, values: dict[str, str]) -> None:
    found = REPORT.aligned(goal)
    assert found is not None
    assert (found.values, found.score >= LIKE) == (values, True)


@pytest.mark.parametrize(
    "goal",
    [
        "Write a monthly report for the sales team from notes.md",
        "Do not write a weekly report for the sales team from notes.md",
        "Write a weekly report for the sales team from notes.md and translate it into French",
        "Write a weekly report for the sales team in French from notes.md",
        "Write a weekly report for the sales team from the notes",
        "Write a weekly report for the sales team, the board and the press from notes.md",
        "Write a weekly report for the sales team from notes.md without numbers",
        "Write a weekly report",
        "",
        "x" * 5_000,
        "for from " * 400,
    ],
)
def test_a_goal_that_asks_for_something_else_is_not_like_it(goal: str) -> None:
    found = REPORT.aligned(goal)
    assert found is None or found.score < LIKE


def test_a_long_goal_may_not_differ_by_a_word_either() -> None:
    long = (
        "Write a detailed technical comparison of the storage engines of PostgreSQL for the database group in {place}"
    )
    pattern = Pattern(long, {"place": "Oslo"})
    same, other = long.replace("{place}", "Rome"), long.replace("{place}", "Rome").replace("storage", "query")
    assert (pattern.aligned(same).score, pattern.aligned(other).score < LIKE) == (1.0, True)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["{what}", "Write {what}", "{one} {two} of the sales report", "the {what} of {what} is big"]
)
def test_a_pattern_with_too_little_that_is_fixed_recognises_nothing(text: str) -> None:
    pattern = Pattern(text, dict.fromkeys(("what", "one", "two"), "thing"))
    assert pattern.aligned(text.replace("{what}", "thing").replace("{one}", "thing").replace("{two}", "thing")) is None


def test_values_are_filled_in_once() -> None:
    pattern = Pattern("Compare {a} and {b}, {c}", {"a": "x", "b": "y"})
    assert pattern.filled({"a": "{b}", "b": "z"}) == "Compare {b} and z, {c}"


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("Write a haiku about old bridges", ["old bridges"]),
        ("Extract the totals from a/b.pdf into a table", ["a/b.pdf"]),
        ('Translate "Good day" into German', ["Good day", "German"]),
        ("Write release notes for version 1.2 of the mobile app", ["1.2", "mobile app"]),
        ("Review the login module", ["login module"]),
        ("Summarise https://example.org/a?b=1 in 3 sentences", ["https://example.org/a?b=1", "3"]),
        ("把 notes.md 翻译成英文", ["notes.md"]),
        ("Do it", []),
    ],
)
def test_the_words_that_may_vary_are_found(goal: str, found: list[str]) -> None:
    assert [phrase.text for phrase in phrases(goal)] == found
