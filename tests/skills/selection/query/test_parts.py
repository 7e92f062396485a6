"""Splitting a goal into parts."""

from __future__ import annotations

import pytest

from goalwright_skills.selection.query.parts import MAX_LENGTH, MAX_PARTS, parts_of


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        ("Review the code", []),
        ("Compare React and Vue.", []),
        ("Fit the model. Draw the curves for it.", ["Fit the model.", "Draw the curves for it."]),
        (
            "Read all the tables, then build a slide deck",
            ["Read all the tables", "build a slide deck"],
        ),
        (
            "Please do:\n- a red-green plot of it\n- a memo for Jim\n  that wraps here\n\nThanks a lot!",
            ["a red-green plot of it", "a memo for Jim that wraps here", "Thanks a lot!"],
        ),
        (
            "do 1) align reads to the genome 2) call variants with gatk 3) write the report",
            ["align reads to the genome", "call variants with gatk", "write the report"],
        ),
        ("分析这些数据并画图。然后写一份报告", ["分析这些数据并画图。", "写一份报告"]),
        ("Keep e.g. tables as they are, please", []),
    ],
)
def test_goals_are_split_into_parts(goal: str, parts: list[str]) -> None:
    assert parts_of(goal) == parts


def test_wrapped_lines_are_not_split() -> None:
    assert parts_of("Write the minutes of the meeting\nthat we held on Tuesday") == []


def test_code_blocks_are_not_parts() -> None:
    goal = "Fix the failing test.\n\n```\nassert a. b. c\nprint(1). print(2)\n```\n\nThen write the changelog entry."
    assert parts_of(goal) == ["Fix the failing test.", "Then write the changelog entry."]


def test_parts_are_bounded_and_unique() -> None:
    goal = " ".join(f"Write chapter number {number} now." for number in range(100))
    assert len(parts_of(goal)) == MAX_PARTS
    assert parts_of("Write the report now. Write the report now. Send the report off.") == [
        "Write the report now.",
        "Send the report off.",
    ]
    assert len(parts_of("a b c. " * MAX_LENGTH)) <= MAX_PARTS
