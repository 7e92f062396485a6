"""Changes to the text of a plan: only what is meant changes, in every form that a plan can have, or nothing does."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
import yaml

from goalwright.runs.plans import plan_text
from goalwright.runs.plans.plan_file import load
from goalwright.runs.plans.plan_nodes import PlanNodes
from goalwright.runs.plans.plan_text import add_task, is_editable, link_task, remove_task, rename_task, unlink_task
from goalwright_skills.errors import InputError

PLAN = """\
goal: Write it
tasks:
- id: survey
  title: Look around
  action_type: skill
  name: cataloging
  instruction: |
    - id: not a task
    depends_on: [nothing]
# the one that counts
- id: brief
  action_type: llm
  instruction: Use <<survey.output>>
  depends_on:
  - survey
synthesis: The brief.
"""
# A task whose instruction looks like the lines of another one.
TRICKY = """\
tasks:
  - id: t1
    action_type: llm
    instruction: Make a list.
  - id: t2
    action_type: llm
    instruction: |
      Write a file with these lines:
      depends_on: [build]
      id: t1
      - t1
    depends_on: [t1]   # the list
    when: <<t1.status>> == "done" and <<t1.count>> > 1
    for_each: <<t1.output.rows>>
  - {id: t3, action_type: llm, instruction: "About <<t2[1].output>> and <<t1>>.", depends_on: [t1, 't2']}  # t1

"""


def task(task_id: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "instruction": f"Do {task_id}."} | more | {"depends_on": list(needs)}


DOCUMENT = {"tasks": [task("a"), task("b", "a"), task("c", "a", "b", instruction="<<a.output>> <<b.status>>")]}
FLOW = """\
goal: g
tasks: [
  {id: a, action_type: llm, instruction: Do a., depends_on: []},
  {id: b, action_type: llm, instruction: Do b., depends_on: [a]},
  {id: c, action_type: llm, instruction: "<<a.output>> <<b.status>>", depends_on: [a, "b"]},
]
"""
BLOCK = """\
tasks:

-
  id: a
  action_type: llm
  instruction: Do a.
- action_type: llm
  depends_on: a
  id: 'b'
  instruction: >-
    Do
    b.

-   depends_on:   # both
      - a
      - "b"  # and this
    id: "c"
    action_type: llm
    instruction: |+
      <<a.output>> <<b.status>>


"""
FORMS = [
    *(json.dumps(DOCUMENT, indent=indent) for indent in (None, 2, "\t")), json.dumps(DOCUMENT["tasks"]),
    FLOW, BLOCK, BLOCK.replace("tasks:", "steps:").replace("depends_on", "after").rstrip() + "\n", BLOCK.rstrip(),
]  # fmt: skip


def rows(text: str) -> dict[str, Any]:
    document = load(text)
    listed = document if isinstance(document, list) else document.get("tasks") or document.get("steps") or []
    return {str(row["id"]): row for row in listed}


def needs(text: str) -> dict[str, Any]:
    found = {name: row.get("depends_on", row.get("after")) or [] for name, row in rows(text).items()}
    return {name: [value] if isinstance(value, str) else value for name, value in found.items()}


def test_a_rename_reaches_dependencies_and_references_and_no_text_that_looks_like_one() -> None:
    text = rename_task(PLAN, "survey", "look")
    expected = PLAN.replace("- id: survey", "- id: look").replace("<<survey", "<<look").replace("- survey", "- look")
    assert text == expected
    tricky = rename_task(TRICKY, "t1", "alpha")
    assert "      id: t1\n      - t1\n" in tricky
    assert '<<alpha.status>> == "done" and <<alpha.count>> > 1' in tricky
    assert "<<alpha.output.rows>>" in tricky
    assert needs(tricky) == {"alpha": [], "t2": ["alpha"], "t3": ["alpha", "t2"]}
    assert "<<x[1].output>>" in rename_task(TRICKY, "t2", "x")


def test_a_dependency_is_taken_away_where_it_stands() -> None:
    assert unlink_task(TRICKY, "t2", "t1") == TRICKY.replace("    depends_on: [t1]   # the list\n", "")
    assert unlink_task(TRICKY, "t3", "t2") == TRICKY.replace("[t1, 't2']", "[t1]")
    assert link_task(TRICKY, "t2", "t3") == TRICKY.replace("    depends_on: [t1]   #", "    depends_on: [t1, t3]   #")
    assert "  depends_on: [brief]\n# the one that counts" in link_task(PLAN, "survey", "brief")
    assert unlink_task(PLAN, "brief", "survey") == PLAN.replace("  depends_on:\n  - survey\n", "")


def test_what_else_stands_in_a_list_of_dependencies_stays() -> None:
    cut = BLOCK.replace('      - "b"  # and this\n', "")
    assert unlink_task(BLOCK, "c", "b") == cut != BLOCK
    added, made = add_task(BLOCK)
    listed = '      - "b"  # and this\n'
    assert link_task(added, "c", made) == added.replace(listed, f"{listed}      - {made}\n")
    assert unlink_task(FLOW, "c", "a") == FLOW.replace('[a, "b"]', '["b"]')
    by_lines = json.dumps(DOCUMENT, indent=2)
    assert unlink_task(by_lines, "c", "b") == by_lines.replace('"a",\n        "b"\n', '"a"\n') + "\n"


def test_tasks_are_added_behind_the_others_and_removed_with_their_links() -> None:
    text, made = add_task(PLAN, ["brief"])
    assert (made, needs(text)) == ("task-3", {"survey": [], "brief": ["survey"], "task-3": ["brief"]})
    assert text.endswith("  depends_on: [brief]\nsynthesis: The brief.\n")
    assert needs(remove_task(text, "brief")) == {"survey": [], "task-3": []}
    assert remove_task(TRICKY, "t3").rstrip() == TRICKY[: TRICKY.index("  - {id")].rstrip()
    first = "tasks:\n- id: task-1\n  title: A new task\n  action_type: llm\n  instruction: Say what to do.\n"
    for empty in ("", "tasks:\n", "tasks: []\n"):
        assert add_task(empty)[0].replace(": \n", ":\n").rstrip() == first.rstrip()
    assert add_task("goal: g")[0] == "goal: g\n" + first
    assert list(rows(add_task('{"goal": "g", "tasks": []}')[0])) == ["task-1"]


@pytest.mark.parametrize("text", FORMS)
def test_every_form_of_a_plan_is_changed_as_asked(text: str) -> None:
    assert is_editable(PlanNodes.of(text), load(text))
    assert needs(text) == {"a": [], "b": ["a"], "c": ["a", "b"]}
    added, made = add_task(text, ["c"])
    assert needs(added) == needs(text) | {made: ["c"]}
    assert needs(rename_task(text, "a", "first-one")) == {"first-one": [], "b": ["first-one"], "c": ["first-one", "b"]}
    assert rows(rename_task(text, "a", "x"))["c"]["instruction"].strip() == "<<x.output>> <<b.status>>"
    assert rows(rename_task(text, "b", "null"))["null"]["action_type"] == "llm"
    assert needs(alone := unlink_task(text, "c", "a")) == needs(text) | {"c": ["b"]}
    assert needs(unlink_task(alone, "c", "b")) == needs(text) | {"c": []}
    assert needs(link_task(unlink_task(text, "b", "a"), "b", "c")) == needs(text) | {"b": ["c"]}
    assert needs(link_task(text, "a", "c")) == needs(text) | {"a": ["c"]}
    for order in permutations("abc"):
        left = text
        for name in order:
            expected = {task: [one for one in waits if one != name] for task, waits in needs(left).items()}
            left = remove_task(left, name)
            expected.pop(name)
            assert needs(left) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tasks:\n- &one\n  id: a\n  action_type: llm\n- *one\n",  # one place for two tasks
        "tasks:\n  a: {action_type: llm}\n",  # by id
        "tasks: [a, b]\n",
        "just words",
    ],
)
def test_what_cannot_be_changed_safely_is_left_to_the_reader(text: str) -> None:
    assert not is_editable(PlanNodes.of(text), load(text))
    with pytest.raises(InputError):
        add_task(text)


def test_a_task_cannot_be_added_behind_one_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no single task of the plan has the id 'gone'"):
        add_task(PLAN, ["gone"])


@pytest.mark.parametrize("text", ["tasks: " + "[" * 100_000, "tasks:\n" + "- " * 100_000 + "a"])
def test_a_change_of_a_plan_that_nests_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        add_task(text)


def test_a_change_that_would_say_something_else_is_refused() -> None:
    edges = "tasks:\n- id: a\n  action_type: llm\n- id: b\n  action_type: llm\nedges:\n- [a, b]\n"
    with pytest.raises(InputError, match="cannot be made by a button"):
        rename_task(edges, "a", "x")
    with pytest.raises(InputError, match="cannot be made by a button"):
        unlink_task(edges, "b", "a")
    folded = 'tasks:\n- id: a\n- id: b\n  instruction: "See <<\\\n    a.output>>"\n'
    with pytest.raises(InputError, match="cannot be made by a button"):
        rename_task(folded, "a", "x")
    with pytest.raises(InputError, match="cannot be the id"):
        rename_task(PLAN, "survey", "brief")
    with pytest.raises(InputError, match="no single task"):
        remove_task("tasks:\n- id: a\n- id: a\n", "a")


def test_a_plan_keeps_its_line_ends() -> None:
    windows = PLAN.replace("\n", "\r\n")
    for changed, plain in (
        (add_task(windows, ["brief"])[0], add_task(PLAN, ["brief"])[0]),
        (rename_task(windows, "survey", "look"), rename_task(PLAN, "survey", "look")),
        (unlink_task(windows, "brief", "survey"), unlink_task(PLAN, "brief", "survey")),
    ):
        assert changed == plain.replace("\n", "\r\n")


def test_keys_and_dependencies_that_are_no_texts_are_left_alone() -> None:
    text = "tasks:\n- id: a\n  1: z\n- id: b\n  yes: q\n  depends_on: [yes, a]\n"
    assert rename_task(text, "a", "c") == text.replace("id: a", "id: c").replace(", a]", ", c]")
    with pytest.raises(InputError, match="by a button"):
        unlink_task(text, "b", "a")


def test_a_mark_of_the_byte_order_moves_nothing() -> None:
    assert rename_task("\ufeff" + PLAN, "survey", "look") == "\ufeff" + rename_task(PLAN, "survey", "look")


def test_json_with_escaped_halves_of_characters_can_be_changed() -> None:
    text = json.dumps({"tasks": [task("a", instruction="Party 🎉"), task("b", "a")]})
    assert "\\ud83c" in text
    document = load(rename_task(text, "a", "first"))
    assert [row["id"] for row in document["tasks"]] == ["first", "b"]
    assert document["tasks"][0]["instruction"] == load(text)["tasks"][0]["instruction"]


def test_a_change_that_would_break_the_text_is_not_blamed_on_the_text() -> None:
    text = "tasks:\r- {id: a, action_type: llm, instruction: x}\rsynthesis: x\r"  # lines end as on old Macs
    assert rows(text)
    with pytest.raises(InputError, match="cannot be made by a button here"):
        add_task(text)


def test_ids_of_a_plan_in_which_all_wait_for_all_are_each_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Any:
        read.append(text)
        return load(text)

    monkeypatch.setattr(plan_text, "load", counted)
    names = [f"wide_{number}" for number in range(40)]
    text = json.dumps({"tasks": [task(name, *names[:at]) for at, name in enumerate(names)]})
    block = yaml.safe_dump(load(text))
    remove_task(block, names[0])
    assert len(read) < 100
