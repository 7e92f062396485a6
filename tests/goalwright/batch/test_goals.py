"""Goal files in every format, validated whole."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from goalwright.batch.goals import BatchGoal, opened
from goalwright_skills.errors import InputError
from tests.hostile_yaml import multiplied

if TYPE_CHECKING:
    from pathlib import Path


def goals(path: Path) -> list[BatchGoal]:
    with opened(str(path)) as file:
        found = list(file)
        assert file.count == len(found) == len(list(file))
        return found


def test_jsonl_takes_ids_custom_ids_skills_models_vars_and_plans(tmp_path: Path) -> None:
    path = tmp_path / "goals.jsonl"
    rows = [
        {"id": "a", "goal": "Greet <<who>> in <<language>>", "vars": {"who": "Ann", "language": "German"}},
        {"custom_id": 7, "goal": "x", "skills": ["code-review"], "model": "openai/y", "extra": 1},
        {"goal": "no id", "plan": {"tasks": []}},
    ]
    path.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    first, second, third = goals(path)
    assert (first.id, first.line, first.text) == ("a", 1, "Greet Ann in German")
    assert (second.id, second.skills, second.model) == ("7", ("code-review",), "openai/y")
    assert (third.id, third.plan) == ("line-5", {"tasks": []})


def test_plain_text_has_one_goal_per_line(tmp_path: Path) -> None:
    path = tmp_path / "goals.txt"
    path.write_text("\ufeff# a comment\nfirst\n\n  second <<as it is>> \n", encoding="utf-8")
    assert [(goal.id, goal.text) for goal in goals(path)] == [("line-2", "first"), ("line-4", "second <<as it is>>")]


def test_extra_csv_columns_are_variables(tmp_path: Path) -> None:
    path = tmp_path / "goals.csv"
    path.write_text('id,goal,skills,city\n1,"Visit <<city>>,\nplease","a; b",Bonn\n2,Stay,,\n', encoding="utf-8")
    first, second = goals(path)
    assert (first.id, first.text, first.skills) == ("1", "Visit Bonn,\nplease", ("a", "b"))
    assert second.text == "Stay"


def test_a_yaml_list_holds_texts_or_objects(tmp_path: Path) -> None:
    path = tmp_path / "goals.yaml"
    path.write_text("- first\n- id: b\n  goal: second\n", encoding="utf-8")
    assert [(goal.id, goal.text) for goal in goals(path)] == [("line-1", "first"), ("b", "second")]


def test_yaml_merge_may_repeat_keys(tmp_path: Path) -> None:
    path = tmp_path / "goals.yaml"
    text = "- &base {goal: first, model: a/b}\n- &more {<<: *base, goal: second}\n- {<<: *more, goal: third}\n"
    path.write_text(text, encoding="utf-8")
    assert [(goal.text, goal.model) for goal in goals(path)] == [("first", "a/b"), ("second", "a/b"), ("third", "a/b")]


def test_goal_line_is_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "goals.yaml"
    path.write_text("# goals\n- id: a\n  goal: first\n\n- second\n", encoding="utf-8")
    assert [goal.line for goal in goals(path)] == [2, 5]
    table = tmp_path / "goals.csv"
    table.write_text('goal,id\n"two\nlines",a\nsecond,b\n', encoding="utf-8")
    assert [(goal.line, goal.text) for goal in goals(table)] == [(2, "two\nlines"), (4, "second")]
    table.write_bytes(b"\r\n\xef\xbb\xbfgoal\r\n\r\nfirst\r\n\r\n\r\nsecond\r\n"[2:])
    assert [(goal.line, goal.text) for goal in goals(table)] == [(3, "first"), (6, "second")]
    listed = tmp_path / "goals.json"
    listed.write_text('\n[\n\t"first", {"goal":\n"second"},\n\n  "third \\ud83d\\ude00"]\n', encoding="utf-8")
    assert [(goal.line, goal.text) for goal in goals(listed)] == [(3, "first"), (3, "second"), (6, "third 😀")]
    assert [goal.id for goal in goals(listed)] == ["line-3", "line-3.2", "line-6"]


def test_every_invalid_line_is_reported_with_number(tmp_path: Path) -> None:
    path = tmp_path / "goals.jsonl"
    lines = [
        '{"id": "a", "goal": "fine"}',
        '{"id": "a", "goal": "again"}',
        "{broken",
        '{"goal": ""}',
        '["list"]',
        '{"goal": "Hi <<name>>", "vars": {"nam": 1}}',
        '{"goal": "x", "skills": "one", "model": 3, "vars": [], "id": [1]}',
        '{"goal": "\\ud800"}',
        '{"goal": "one", "id": "b", "goal": "two"}',
        '{"goal": "<<name>>", "vars": {"name": "Ann", "name": "Ben"}}',
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        goals(path)
    for text in (
        "line 2: duplicate id 'a'",
        "line 3: not valid JSON",
        "line 4: 'goal' is missing or empty",
        "line 5: a goal is an object",
        "line 6: the goal uses <<name>>, which is not in 'vars'",
        "line 7: 'id' must be a string or an integer, 'skills' must be a list of names, 'model' must be a string",
        "line 8: the goal is not UTF-8 text",
        "line 9: the key 'goal' occurs more than once in an object",
        "line 10: the key 'name' occurs more than once in an object",
    ):
        assert text in caught.value.message


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("goals.jsonl", "", "has no goals"),
        ("goals.csv", "aim\nx\n", "no column 'goal'"),
        ("goals.yaml", "goal: x", "must be a list"),
        ("goals.yaml", "- [", "not valid YAML"),
        ("goals.jsonl", '{"id": "\\ud800", "goal": "x"}', "'id' is not UTF-8 text"),
        ("goals.yaml", "- goal: a\n  plan: {tasks: [{id: 2026-01-01}]}", "not JSON or not UTF-8"),
        ("goals.yaml", "- goal: a\n  id: 2026-13-45", "not valid YAML"),
        ("goals.jsonl", '{"goal": "a <<b>>", "vars": {"b": "\\udce9"}}', "not JSON or not UTF-8"),
        ("goals.jsonl", '{"goal": "half \\ud800"}', "the goal is not UTF-8 text"),
        ("goals.jsonl", "\n".join(["{"] * 50), "and lines 21 to 50"),
        ("goals.jsonl", "\n".join(["{"] * 20 + ["", "{"]), "and line 22$"),
        ("goals.jsonl", '{"id": "", "goal": "x"}', "'id' is empty"),
        ("goals.csv", "id,goal\n1,Summarise a, b and c\n", "line 2: 3 fields for 2 columns; quote texts"),
        ("goals.csv", "id,goal,city\n1,Go, on,\n", "line 2: 4 fields for 3 columns"),
        ("goals.csv", 'goal\nfirst\n"never closed\nmore\n', "line 3: not valid CSV"),
        ("goals.csv", 'goal\n"a"b\nx\n"c"d\n', "(?s)line 2: not valid CSV.*line 4: not valid CSV"),
        ("goals.csv", "goal,goal\na,b\n", "more than one column goal"),
        ("goals.json", '{"goal": "x"}', "must be a list"),
        ("goals.json", '["a",\n "b"\n "c"]', "line 3: not valid JSON"),
        ("goals.json", "[" * 100_000, "nested too deeply"),
        ("goals.yaml", "[" * 100_000, "nests deeper than 100 levels"),
        ("goals.yaml", "a: {" * 20_000, "nests deeper than 100 levels"),
        (
            "goals.yaml",
            multiplied("- goal: <<v>>\n  vars:\n    v:\n", "    "),
            "line 10: not valid YAML: its aliases repeat",
        ),
        (
            "goals.yaml",
            multiplied("- goal: x\n  plan:\n    v:\n", "    "),
            "line 10: not valid YAML: its aliases repeat",
        ),
        (
            "goals.json",
            '["a",\n {"goal": "b", "goal": "c"},\n {"goal": "d", "plan": {"tasks": [], "tasks": []}}]',
            "(?s)line 2: the key 'goal' occurs more than once in an object\n.*line 3: the key 'tasks' occurs more",
        ),
        (
            "goals.yaml",
            "- goal: a\n  goal: b\n- goal: c\n  vars:\n    x: 1\n    x: 2\n- d\n",
            "(?s)line 2: the key 'goal' occurs more than once in an object; is a `- ` missing.*line 6: the key 'x'",
        ),
    ],
)
def test_invalid_file_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        goals(path)


def test_empty_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "goals.json"
    path.write_text(" [ ] ", encoding="utf-8")
    with pytest.raises(InputError, match="has no goals"):
        goals(path)


def test_long_csv_field_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "goals.csv"
    path.write_text(f"id, goal ,\n1,{'long ' * 100_000},\n2,short\n", encoding="utf-8")
    goal, short = goals(path)
    assert (goal.id, len(goal.text), short.text) == ("1", 500_000, "short")


def test_unused_keys_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "goals.jsonl"
    rows = [
        {"goal": "a", "model": "openai/x"},
        {"goal": "b", "modle": "y", "id": None, "custom_id": "c"},
        {"goal": "c"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with opened(str(path)) as file:
        assert file.unused == {"modle": 2}
        assert [goal.id for goal in file] == ["line-1", "c", "line-3"]


def test_pipe_is_read_like_stdin(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_text, args=('\ufeff{"goal": "piped"}\n',))
    writing.start()
    assert [goal.text for goal in goals(path)] == ["piped"]
    writing.join()


def test_missing_file_is_reported() -> None:
    with pytest.raises(InputError, match="no such goal file: nowhere"), opened("nowhere"):
        pass


@pytest.mark.parametrize("text", ['{"id": "a", "goal": "from stdin"}\n', "from stdin\n", '[\n  "from stdin"\n]\n'])
def test_stdin_goals_can_be_iterated_repeatedly(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with opened("-") as file:
        assert [goal.text for goal in file] == [goal.text for goal in file] == ["from stdin"]


@pytest.mark.parametrize(
    "text",
    [
        "# of today\n\n- id: a\n  goal: piped\n",
        "---\n- goal: piped\n  id: a\n",
        "- {id: a, goal: piped}\n",
        "id,goal,topic\na,piped,x\n",
        '\ufeff"goal","id"\r\n"piped","a"\r\n',
    ],
)
def test_yaml_and_csv_on_stdin_are_detected(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with opened("-") as file:
        assert [(goal.id, goal.text) for goal in file] == [("a", "piped")]


@pytest.mark.parametrize(
    "lines",
    [
        ["[urgent] one", "[] two"],
        ["- one", "- two: and three"],
        ["Our goal, in short: one", "two"],
        ["goal: one", "two"],
        ["--- one"],
    ],
)
def test_text_on_stdin_may_resemble_another_format(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    with opened("-") as file:
        assert [goal.text for goal in file] == lines


def test_yaml_mapping_on_stdin_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"goals:\n  - goal: a\n")))
    with pytest.raises(InputError, match="line 1: the file must be a list of goals"), opened("-"):
        pass


def test_content_hash_distinguishes_changed_from_renamed_goal() -> None:
    goal = BatchGoal("a", 1, "text", ("s",), "m")
    assert goal.content_hash == BatchGoal("b", 9, "text", ("s",), "m").content_hash
    for other in (BatchGoal("a", 1, "text!", ("s",), "m"), BatchGoal("a", 1, "text", (), "m")):
        assert other.content_hash != goal.content_hash
