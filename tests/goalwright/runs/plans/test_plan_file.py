"""Plans in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings

from goalwright.runs.plans import plan_file
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.errors import InputError
from tests.hostile_yaml import multiplied
from tests.plans import plans

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = Known(["a_name"], {"a_name": {"properties": {}}})


@settings(max_examples=20)  # to read and write YAML takes time
@given(plans(most=4))  # a file has one task after the other
def test_a_plan_round_trips_through_yaml_and_json(plan: Plan) -> None:
    for form in ("yaml", "json"):
        assert Plan.from_dict(plan_file.load(plan_file.dump(plan, form))) == plan


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tasks: [", "neither YAML nor JSON"),
        ("just words", "not a string"),
        ("tasks:\n- id: a\n  action_type: skill\n  name: nope", "there is no skill 'nope'"),
        ("!!python/object/apply:os.system ['true']", "neither YAML nor JSON"),
        ("tasks: !!binary aGVsbG8=", "neither YAML nor JSON"),
        ("tasks:\n- id: a\n  action_type: llm\n  id: b\n", ", line 4: duplicate key 'id'"),
        ('{"tasks": [{"id": "a", "id": "b", "action_type": "llm"}]}', "duplicate key 'id'"),
        ("goal: [a]\ntasks:\n- id: a\n  action_type: llm\n  instruction: b\n", "'goal' must be a text"),
        ("[" * 5000, "nested too deeply"),
        ("tasks:\n- id: a\n  title: !!bool x\n", "line 3 is neither YAML nor JSON: 'x' is no bool"),
        ("tasks:\n- id: a\n  title: !!map x\n", "line 3 is neither YAML nor JSON: expected a mapping node"),
        ("tasks:\n- &a\n  id: a\n  action_type: llm\n  arguments: *a\n", "nested more than 100 levels deep"),
        (
            multiplied("tasks:\n- id: a\n  arguments:\n", "  "),
            "line 10 is neither YAML nor JSON: its aliases repeat more than 1,000,000",
        ),
    ],
)
def test_invalid_plans_are_refused_with_the_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        plan_file.read(path, KNOWN)
    assert says in caught.value.message
    assert str(path) in caught.value.message


def test_the_hint_names_tools_that_are_off() -> None:
    with pytest.raises(InputError) as caught:
        plan_file.parse("tasks:\n- {id: a, action_type: tool, name: WebFetch, arguments: {url: x}}", "p.yaml", KNOWN)
    assert caught.value.hint == "allow WebFetch; fix the plan and run it again"


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        plan_file.read(tmp_path / "missing.yaml", KNOWN)
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InputError, match="not UTF-8"):
        plan_file.read(tmp_path / "latin", KNOWN)


def test_hand_written_plans_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"tasks": [{"id": "a", "action_type": "llm", "instruction": "x"}]}', encoding="utf-8")
    assert plan_file.form_of(path) == "json"
    assert plan_file.form_of(tmp_path / "plan.yml") == "yaml"
    found = plan_file.read(path, KNOWN)
    assert ([task.id for task in found.plan.tasks], found.goal) == (["a"], "")


def test_multi_line_texts_are_literal_blocks() -> None:
    long = Task(id="a", title="A", action_type="llm", instruction="Read the notes.\n\n- name: each one\n- id: none")
    text = plan_file.dump(Plan((long,)), "yaml", "Goal")
    assert "instruction: |-\n    Read the notes.\n\n    - name: each one\n" in text
    assert plan_file.load(text)["tasks"][0]["instruction"] == long.instruction


def test_yaml_dates_stay_text() -> None:
    known = Known([], {"a_name": {"properties": {"day": {"type": "string"}}}})
    text = "tasks:\n- {id: a, action_type: tool, name: a_name, arguments: {day: 2024-01-01}}"
    (task,) = plan_file.parse(text, "here", known).plan.tasks
    assert task.arguments == {"day": "2024-01-01"}


def test_duplicate_keys_are_found_in_large_mappings() -> None:
    keys = ", ".join(f'"key-{number}": 1' for number in range(100_000))
    with pytest.raises(yaml.YAMLError, match="duplicate key 'last'"):
        plan_file.load(f'{{{keys}, "last": 1, "last": 2}}')
