"""Parsing labelled goals; faults name file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.errors import InputError
from goalwright_skills.evaluation.labelled import LabelledGoal, parse, read

if TYPE_CHECKING:
    from pathlib import Path


def test_each_form_of_a_line_is_read() -> None:
    lines = [
        b'\xef\xbb\xbf{"goal": "a", "expected": "x"}',
        b"",
        b'{"id": 7, "goal": "b", "expected": ["x", " y ", "x"], "note": 1}\r',
        b'{"id": "q3", "pool": "p", "goal": "c", "expected": null}',
        b'{"goal": "d", "expected": []}',
        b'{"goal": "e", "expected": null, "pool": "p", "set": "s"}',
        b'{"goal": "f", "expected": null, "pool": 1, "set": ["s"]}',
    ]
    assert parse(b"\n".join(lines), "f") == [
        LabelledGoal("line-1", 1, "a", ("x",)),
        LabelledGoal("7", 3, "b", ("x", "y")),
        LabelledGoal("q3", 4, "c", (), "p"),
        LabelledGoal("line-5", 5, "d", ()),
        LabelledGoal("line-6", 6, "e", (), "p", "s"),
        LabelledGoal("line-7", 7, "f", ()),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"not json", "it is not JSON: Expecting value at column 1"),
        (b"[1]", "it is not an object"),
        (b'{"expected": "x"}', "'goal' is missing or empty"),
        (b'{"goal": " ", "expected": "x"}', "'goal' is missing or empty"),
        (b'{"goal": "a"}', "'expected' is missing"),
        (b'{"goal": "a", "expected": 7}', "'expected' must be a skill's name"),
        (b'{"goal": "a", "expected": ["x", null]}', "'expected' must be a skill's name"),
        (b'{"goal": "a", "expected": ""}', "'expected' must be a skill's name"),
        (b'{"id": "", "goal": "a", "expected": null}', "'id' must be a string or an integer"),
        (b'{"id": true, "goal": "a", "expected": null}', "'id' must be a string or an integer"),
        (b'{"goal": "\xff", "expected": null}', "it is not UTF-8 text"),
        (b'{"goal": "\\ud800", "expected": null}', "the goal is not UTF-8 text"),
        (b"[" * 100_000, "it is not JSON that can be read"),
        (b'{"id": "1", "goal": "a", "expected": null}', "the id '1' is also on line 1"),
    ],
)
def test_a_wrong_line_is_named(line: bytes, fault: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(b'{"id": 1, "goal": "a", "expected": "x"}\n\n' + line, "goals.jsonl")
    assert f"goals.jsonl:3: {fault}" in caught.value.message
    assert '"expected"' in caught.value.hint


def test_all_wrong_lines_are_reported_at_once_within_reason() -> None:
    with pytest.raises(InputError, match="and 30 more") as caught:
        parse(b"x\n" * 50, "f")
    assert caught.value.message.count("f:") == 20


def test_a_file_without_goals_or_without_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="f has no goals"):
        parse(b"\n \n", "f")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="cannot be read: it is neither a regular file nor a pipe"):
        read(tmp_path)


def test_unlabelled_goals_are_accepted_on_request() -> None:
    assert parse(b'{"goal": "a"}', "f", labelled=False) == [LabelledGoal("line-1", 1, "a", None)]
