"""Files of cases in every form, and how what is wrong with them is told."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from goalwright.evaluation.case_files import read_cases
from goalwright_skills.errors import InputError


def test_yaml_and_json_lines_give_equal_cases(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\n", encoding="utf-8")
    case = {"id": "a", "goal": "Do it", "files": ["data.csv"], "tags": ["x"], "expectations": ["It is done"]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case | {"checks": [{"contains": "x"}]}), encoding="utf-8")
    text = "- id: a\n  goal: Do it\n  files: [data.csv]\n  tags: [x]\n  checks:\n  - contains: x\n"
    text += "  expectations: [It is done]\n"
    (tmp_path / "cases.yaml").write_text(text, encoding="utf-8")
    (lines,), (yaml,) = read_cases([tmp_path / "cases.jsonl"]), read_cases([tmp_path / "cases.yaml"])
    assert lines == yaml
    assert (lines.files, lines.expectations) == ((tmp_path / "data.csv",), ("It is done",))
    assert [check.kind for check in lines.checks] == ["contains", "expectation"]


def test_free_checks_come_first() -> None:
    (case,) = read_cases(
        [{"goal": "x", "checks": [{"expectation": "a"}, {"command": ["true"]}, {"contains": "b"}], "id": "i"}]
    )
    assert [check.kind for check in case.checks] == ["contains", "command", "expectation"]


def test_expected_output_is_an_expectation_without_other_checks(tmp_path: Path) -> None:
    evals = [
        {"id": 1, "prompt": "p", "expected_output": "A table"},
        {"id": 2, "prompt": "q", "assertions": ["It has b", {"id": 1, "text": "It has c"}]},
    ]
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "evals.json").write_text(json.dumps({"skill_name": "s", "evals": evals}), encoding="utf-8")
    first, second = read_cases([tmp_path])
    assert (first.id, first.expectations, first.expected) == ("1", ("A table",), "A table")
    assert second.expectations == ("It has b", "It has c")


def test_shared_ids_are_prefixed_with_their_file(tmp_path: Path) -> None:
    for folder in ("a/pdf", "b/pdf", "b/csv"):
        evals = [{"id": 1, "prompt": f"{folder} 1"}, {"id": folder, "prompt": f"{folder} 2"}]
        (tmp_path / folder / "evals").mkdir(parents=True)
        (tmp_path / folder / "evals" / "evals.json").write_text(json.dumps({"evals": evals}), encoding="utf-8")
    two = read_cases([tmp_path / "a/pdf", tmp_path / "b/csv"])
    assert [case.id for case in two] == ["pdf:1", "a/pdf", "csv:1", "b/csv"]
    same = read_cases([tmp_path / "a/pdf", tmp_path / "b/pdf"])  # two skills of one name
    assert [case.id for case in same] == ["a/pdf:1", "a/pdf", "b/pdf:1", "b/pdf"]
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text('{"goal": "x"}\n', encoding="utf-8")
    lines = read_cases([tmp_path / "one.jsonl", tmp_path / "two.jsonl"])
    assert [case.id for case in lines] == ["one.jsonl:line-1", "two.jsonl:line-1"]
    assert [case.id for case in read_cases(lines)] == [case.id for case in lines]
    with pytest.raises(InputError, match="duplicate id '1'"):
        read_cases([tmp_path / "a/pdf", tmp_path / "a" / "pdf" / "evals" / "evals.json"])
    with pytest.raises(InputError, match="duplicate id '1'"):
        read_cases([{"id": 1, "goal": "x"}, {"id": 1, "goal": "y"}])


def test_goal_file_with_variables_has_no_checks(tmp_path: Path) -> None:
    (tmp_path / "goals.csv").write_text("goal,who\nWrite to <<who>>,Ann\n", encoding="utf-8")
    (case,) = read_cases([tmp_path / "goals.csv"])
    assert (case.goal, case.checks) == ("Write to Ann", ())


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("c.json", '{"evals": 3}', "must be a list of cases or an object with one"),
        ("c.json", '{"evals": [', "line 1: not valid JSON"),
        ("c.json", '{"evals": [{"goal": "a", "goal": "b"}]}', "line 1: the key 'goal' occurs more than once"),
        ("c.yaml", "evals:\n- goal: a\n  goal: b\n", "line 3: the key 'goal' occurs more than once"),
        ("c.yaml", "- goal: [", "not valid YAML"),
        ("c.yaml", "cases:\n- goal: a\n  due: 2026-99-99\n", "line 3: not valid YAML: month must be in 1..12"),
        ("c.yaml", "cases:\n- goal: a\n  due: !!timestamp x\n", "line 3: not valid YAML: 'x' is no timestamp"),
        (
            "c.yaml",
            "cases:\n- goal: a\n  seal: !stamp 1\n",
            "line 3: not valid YAML: could not determine a constructor",
        ),
        ("c.yaml", "- 7\n", "a case must be an object"),
        ("c.jsonl", '{"goal": "x", "tags": 3}', "'tags' must be a list of strings"),
        ("c.jsonl", '{"goal": "x", "id": true}', "'id' must be a string"),
        ("c.jsonl", '{"goal": "\\ud800"}', "not valid UTF-8"),
        ("c.jsonl", "\n", "has no cases"),
    ],
)
def test_damaged_file_is_refused_with_its_line(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_cases([tmp_path / name])


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"goal": ""}\n{"goal": "x"}\n' + '{"goal": 1}\n' * 30, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_cases([tmp_path / "c.jsonl"])
    assert raised.value.message.count("'goal' is missing") == 20
    assert "and 11 more" in raised.value.message


def test_missing_file_or_folder_without_evals_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such case file"):
        read_cases([tmp_path / "gone.jsonl"])
    with pytest.raises(InputError, match=r"has no evals/evals\.json"):
        read_cases([tmp_path])
    with pytest.raises(InputError, match="there are no cases"):
        read_cases([])


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a", "goal": "Do it", "files": ["data.csv"]}\n{"id": "b", "goal": "And that"}\n',
        '\ufeff{"id": "a", "goal": "Do it", "files": ["data.csv"]}\r\n\r\n{"id": "b", "goal": "And that"}',
        '[{"id": "a", "goal": "Do it", "files": ["data.csv"]},\n {"id": "b", "goal": "And that"}]',
        '{"evals": [{"id": "a", "prompt": "Do it", "files": ["data.csv"]}, {"id": "b", "prompt": "And that"}]}',
        '{\n"evals": [\n{"id": "a", "prompt": "Do it", "files": ["data.csv"]},\n{"id": "b", "prompt": "And that"}]}',
        "# mine\n- id: a\n  goal: Do it\n  files: [data.csv]\n- id: b\n  goal: And that\n",
        "- {id: a, goal: Do it, files: [data.csv]}\n- {id: b, goal: And that}\n",
        "---\n- files: [data.csv]\n  id: a\n  goal: Do it\n- id: b\n  goal: And that\n",
        "cases:\n- goal: Do it\n  id: a\n  files:\n  - data.csv\n- goal: And that\n  id: b\n",
    ],
)
def test_stdin_accepts_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "data.csv").write_text("a\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    first, second = read_cases(["-"])
    assert (first.id, first.goal, first.files) == ("a", "Do it", (tmp_path / "data.csv",))
    assert (second.id, second.goal, second.folder) == ("b", "And that", tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "stdin has no cases"),
        ('{"id": "a"}\n{"goal": 1}\n', "stdin, line 1: 'goal' is missing or empty\n  stdin, line 2: 'goal' is"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_faults_on_stdin_have_their_line(monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    data = io.BytesIO(text.encode("utf-8", "surrogateescape"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    with pytest.raises(InputError, match=told):
        read_cases(["-"])


def test_goals_on_stdin_are_cases_without_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Summarise: the news\nTask: name a colour\n")))
    assert [(case.goal, case.checks) for case in read_cases([Path("-")])] == [
        ("Summarise: the news", ()),
        ("Task: name a colour", ()),
    ]


def test_csv_on_stdin_is_recognized_by_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,goal,topic\na,About <<topic>>,tea\n")))
    assert [(case.id, case.goal) for case in read_cases(["-"])] == [("a", "About tea")]


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("chekcs", ["a"], "checks"),
        ("check", ["a"], "checks"),
        ("expectation", ["a"], "expectations"),
        ("expectation", "It is kind", "expectations"),
        ("skils", ["a"], "skills"),
        ("file", ["a"], "files"),
    ],
)
def test_misspelt_key_is_refused_with_a_suggestion(key: str, value: object, meant: str) -> None:
    for more in ({}, {"checks": [{"contains": "x"}]}):
        with pytest.raises(InputError, match=f"there is no key '{key}'; did you mean '{meant}'"):
            read_cases([{"goal": "x", key: value, **more}])
    assert len(read_cases([{"prompt": "x", key: value}])) == 1, "other authors have keys for other programs"


def test_unknown_keys_are_ignored_and_listed() -> None:
    case = read_cases([{"goal": "x", "notes": ["a"], "choices": [], "idx": 1}])[0]
    assert (case.checks, case.unused) == ((), ("notes", "choices", "idx"))
    assert read_cases([{"prompt": "x", "notes": ["a"]}])[0].unused == ()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"model": 5}, "'model' must be a string"),
        ({"plan": "plan.yaml"}, "'plan' must be an object"),
        ({"vars": ["a"]}, "'vars' must be an object"),
    ],
)
def test_value_of_wrong_type_is_refused_as_in_a_batch(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_cases([{"goal": "x", **wrong}])
    assert read_cases([{"goal": "x", **dict.fromkeys(wrong)}])[0].model is None
