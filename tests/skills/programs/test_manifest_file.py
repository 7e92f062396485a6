"""A `skill.yaml` is parsed into tools and problems."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_skills.programs.manifest import domain
from goalwright_skills.programs.manifest_file import parse, read

GOOD = """
name: excel_read
description: "Read a range of a worksheet; files up to 20 MB."
runtime: python
entry: main.py
timeout: 12.5
env: [CITY]
network: true
parameters:
  - name: path
    type: string
    required: true
    description: "Path of the workbook."
  - {name: rows, type: integer, default: 10}
  - {name: mode, enum: [fast, full], default: fast}
docs:
  when_to_use: [a workbook is to be read]
  when_not_to_use: for CSV
  examples:
    - scenario: first rows
      arguments: {path: a.xlsx}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "excel"
    path.mkdir()
    (path / "main.py").touch()
    return path


def test_reads_all_declared_keys(folder: Path) -> None:
    (manifest,), problems = parse(GOOD, folder)
    assert problems == []
    assert (manifest.name, manifest.runtime, manifest.timeout) == ("excel_read", "python", 12.5)
    assert (manifest.env, manifest.network, manifest.writes) == (("CITY",), True, False)
    assert manifest.docs.when_not_to_use == ("for CSV",)
    assert manifest.docs.examples[0] == {"path": "a.xlsx"}
    assert manifest.entry_path == folder / "main.py"


def test_parameters_become_a_json_schema(folder: Path) -> None:
    schema = parse(GOOD, folder)[0][0].schema
    assert schema["required"] == ["path"]
    assert schema["properties"]["rows"] == {"type": "integer", "default": 10}
    assert schema["properties"]["mode"] == {"type": "string", "enum": ["fast", "full"], "default": "fast"}
    assert schema["additionalProperties"] is False


def test_array_schema_has_items(folder: Path) -> None:
    text = GOOD.replace("{name: rows, type: integer, default: 10}", "{name: rows, type: array}")
    assert parse(text, folder)[0][0].schema["properties"]["rows"] == {"type": "array", "items": {}}


def test_the_default_timeout_is_thirty_seconds(folder: Path) -> None:
    text = "name: excel_read\ndescription: x\nruntime: python\nentry: main.py\n"
    assert parse(text, folder)[0][0].timeout == 30


def test_tools_share_the_keys_beside_the_list(folder: Path) -> None:
    text = """
runtime: python
entry: main.py
tools:
  - {name: excel_read, description: Read.}
  - {name: excel_write, description: Write., writes: true}
"""
    manifests, problems = parse(text, folder)
    assert problems == []
    assert [(m.name, m.writes, m.line) for m in manifests] == [
        ("excel_read", False, 5),
        ("excel_write", True, 6),
    ]


def test_invalid_tool_does_not_affect_others(folder: Path) -> None:
    text = """
runtime: python
entry: main.py
tools:
  - {name: excel_read, description: Read.}
  - {name: word_write, description: Write.}
  - {name: excel_read, description: Again.}
  - nonsense
"""
    manifests, problems = parse(text, folder)
    assert [m.name for m in manifests] == ["excel_read"]
    assert [p.line for p in problems] == [8, 6, 7]
    assert "word_write" in str(problems[1])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("name: excel_read", "name: word_read"), "does not start with its folder's name"),
        (("name: excel_read", "name: ExcelRead"), "does not have the form"),
        (("name: excel_read", "name: excel"), "does not have the form"),
        (("name: excel_read", "other: 1"), "has no name"),
        (("entry: main.py", "entry: absent.py"), "'absent.py' does not exist"),
        (("entry: main.py", "entry: ../../etc/passwd"), "outside the tool's folder"),
        (("entry: main.py", "x: y"), "has no entry"),
        (("runtime: python", "runtime: ruby"), "'ruby' is unknown"),
        (("timeout: 12.5", "timeout: -1"), "not a valid number of seconds"),
        (("timeout: 12.5", "timeout: .inf"), "not a valid number of seconds"),
        (("network: true", "network: sure"), "network is 'sure'"),
        (("env: [CITY]", "env: [CITY=x]"), "variable names"),
        (("type: integer", "type: int"), "unknown type 'int'"),
        (("default: 10", "default: ten"), "default of another type"),
        (("enum: [fast, full]", "enum: [1, 2]"), "enum"),
        (("default: fast", "default: slow"), "not in its enum"),
        (("name: rows", "name: path"), "declared twice"),
    ],
)
def test_invalid_tool_is_ignored_with_a_reason(folder: Path, change: tuple[str, str], says: str) -> None:
    manifests, problems = parse(GOOD.replace(*change), folder)
    assert manifests == []
    assert any(says in problem.what for problem in problems), [str(p) for p in problems]
    assert all(problem.remedy for problem in problems)


def test_all_faults_are_reported_at_once(folder: Path) -> None:
    _, problems = parse("name: Bad\nruntime: ruby\nentry: none.py\n", folder)
    assert len(problems) == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "not valid YAML"),
        ("- x", "not a mapping"),
        ("", "not a mapping"),
        ("tools: []", "not a list of tools"),
        ("name: !!python/object/apply:os.system [true]", "not valid YAML"),
        ("x: " + "[" * 1_000, ""),
        ("a" * 300_000, "too large"),
    ],
)
def test_invalid_manifest_is_a_problem_not_a_crash(folder: Path, text: str, says: str) -> None:
    manifests, problems = parse(text, folder)
    assert manifests == []
    assert problems
    assert says in problems[0].what


def test_nested_aliases_do_not_blow_up(folder: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    manifests, problems = parse("\n".join(lines), folder)
    assert manifests == []
    assert "aliases repeat more than" in problems[0].what


def test_a_date_stays_text(folder: Path) -> None:
    text = GOOD.replace("{name: rows, type: integer, default: 10}", "{name: day, default: 2024-01-02}")
    assert parse(text, folder)[0][0].parameters[1].default == "2024-01-02"


def test_a_dash_in_the_folder_is_an_underscore_in_the_name() -> None:
    assert domain(Path("web-page")) == "web_page"


def test_folder_without_manifest_has_no_tools_and_problems(tmp_path: Path) -> None:
    assert read(tmp_path) == ([], [])


def test_a_file_that_is_not_text_is_a_problem(folder: Path) -> None:
    (folder / "skill.yaml").write_bytes(b"\xff\xfe\x00")
    manifests, problems = read(folder)
    assert manifests == []
    assert "UTF-8" in problems[0].what


@given(st.text(max_size=200))
def test_no_text_crashes_the_parser(text: str) -> None:
    manifests, problems = parse(text, Path("/nonexistent/excel"))
    assert manifests == []
    assert problems


def test_problems_have_rule_tool_and_line(folder: Path) -> None:
    text = """runtime: python
entry: main.py
tools:
  - name: excel_rename
    description: Rename it.
    entry: gone.py
  - name: excel_read
    description: Read it.
    parameters:
      - name: a
      - name: b
        type: float
"""
    _, problems = parse(text, folder)
    assert [(one.rule, one.tool, one.line) for one in problems] == [
        ("manifest-entry", "excel_rename", 6),
        ("manifest-parameter", "excel_read", 11),
    ]


def test_shared_key_has_its_own_line(folder: Path) -> None:
    text = "description: Read.\nruntime: python\nentry: main.py\ntools:\n  - name: excel_read\n"
    ((manifest,), _) = parse(text, folder)
    assert (manifest.spot.line("description"), manifest.line) == (1, 5)


@pytest.mark.parametrize(("name", "says"), [("Excel", "rename the folder to excel"), ("my.book", "folder to my-book")])
def test_a_folder_whose_name_cannot_be_a_prefix_must_be_renamed(tmp_path: Path, name: str, says: str) -> None:
    tool = f"{name.lower().replace('.', '_')}_read"
    (problem,) = parse(GOOD.replace("excel_read", tool).replace("main.py", name), tmp_path / name)[1][:1]
    assert says in problem.remedy
