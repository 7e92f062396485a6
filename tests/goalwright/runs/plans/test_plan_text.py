"""Edits of the text of a plan: comments stay, and nothing else changes."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from goalwright.runs.plans.plan_file import load
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
# An instruction that looks like the lines of a task.
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


COMMENTED = """\
# head
tasks:
- id: survey
  action_type: llm
  instruction: |
    Look.

# before brief
- id: brief   # the brief
  action_type: llm
  instruction: Use <<survey.output>>
  depends_on:
  - survey
# before last
- id: last
  action_type: llm
  instruction: Join them.
  depends_on:
  - survey  # first
  - brief  # second
# before synthesis
synthesis: The brief.
# end
"""
COMMENTS = [
    "# head",
    "# before brief",
    "# the brief",
    "# before last",
    "# first",
    "# second",
    "# before synthesis",
    "# end",
]


def test_rename_changes_dependencies_and_references_only() -> None:
    text = rename_task(PLAN, "survey", "look")
    expected = PLAN.replace("- id: survey", "- id: look").replace("<<survey", "<<look").replace("- survey", "- look")
    assert text == expected
    tricky = rename_task(TRICKY, "t1", "alpha")
    assert "      id: t1\n      - t1\n" in tricky
    assert '<<alpha.status>> == "done" and <<alpha.count>> > 1' in tricky
    assert "<<alpha.output.rows>>" in tricky
    assert needs(tricky) == {"alpha": [], "t2": ["alpha"], "t3": ["alpha", "t2"]}
    assert "<<x[1].output>>" in rename_task(TRICKY, "t2", "x")


@pytest.mark.parametrize(
    ("edited", "lost"),
    [
        (rename_task(COMMENTED, "survey", "look"), []),
        (link_task(COMMENTED, "survey", "brief"), []),
        (unlink_task(COMMENTED, "brief", "survey"), []),
        (add_task(COMMENTED, ["last"])[0], []),
        (unlink_task(COMMENTED, "last", "brief"), ["# second"]),
        (unlink_task(COMMENTED, "last", "survey"), ["# first"]),
        (remove_task(COMMENTED, "survey"), ["# first"]),
        (remove_task(COMMENTED, "brief"), ["# the brief", "# second"]),
        (remove_task(COMMENTED, "last"), ["# first", "# second"]),
    ],
)
def test_comments_survive_edits(edited: str, lost: list[str]) -> None:
    assert [comment for comment in COMMENTS if comment not in edited] == lost
    if "- id: last" in edited:
        assert "# before last\n- id: last" in edited


def test_dependencies_are_linked_and_unlinked() -> None:
    assert needs(unlink_task(TRICKY, "t2", "t1"))["t2"] == []
    assert needs(unlink_task(TRICKY, "t3", "t2"))["t3"] == ["t1"]
    assert "depends_on: [t1, t3] # the list" in link_task(TRICKY, "t2", "t3")
    assert unlink_task(PLAN, "brief", "survey") == PLAN.replace("depends_on:\n  - survey\n", "depends_on: []\n")
    text, new = add_task(BLOCK)
    assert needs(link_task(text, "c", new))["c"] == ["a", "b", new]


def test_tasks_are_added_at_the_end_and_removed_with_their_links() -> None:
    text, new = add_task(PLAN, ["brief"])
    assert (new, needs(text)) == ("task-3", {"survey": [], "brief": ["survey"], "task-3": ["brief"]})
    assert text.endswith("  depends_on: [brief]\nsynthesis: The brief.\n")
    assert needs(remove_task(text, "brief")) == {"survey": [], "task-3": []}
    first = "tasks:\n- id: task-1\n  title: A new task\n  action_type: llm\n  instruction: Say what to do.\n"
    assert add_task("")[0] == first
    assert add_task("tasks:\n")[0] == first
    assert add_task("goal: g")[0] == "goal: g\n" + first
    assert list(rows(add_task('{"goal": "g", "tasks": []}')[0])) == ["task-1"]


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_json_keeps_its_form(indent: int | str | None) -> None:
    text = json.dumps(DOCUMENT, indent=indent) + "\n"
    assert rename_task(rename_task(text, "a", "x"), "x", "a") == text


@pytest.mark.parametrize("text", FORMS)
def test_plans_of_every_form_can_be_edited(text: str) -> None:
    assert is_editable(load(text))
    assert needs(text) == {"a": [], "b": ["a"], "c": ["a", "b"]}
    added, new = add_task(text, ["c"])
    assert needs(added) == needs(text) | {new: ["c"]}
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
            expected = {task: [other for other in waits if other != name] for task, waits in needs(left).items()}
            left = remove_task(left, name)
            expected.pop(name)
            assert needs(left) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tasks:\n  a: {action_type: llm}\n",  # by id
        "tasks: [a, b]\n",
        "just words",
    ],
)
def test_other_documents_cannot_be_edited(text: str) -> None:
    assert not is_editable(load(text))
    with pytest.raises(InputError):
        add_task(text)


def test_unknown_dependencies_are_refused() -> None:
    with pytest.raises(InputError, match="no single task of the plan has the id 'gone'"):
        add_task(PLAN, ["gone"])


@pytest.mark.parametrize("text", ["tasks: " + "[" * 100_000, "tasks:\n" + "- " * 100_000 + "a"])
def test_deeply_nested_plans_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        add_task(text)


def test_edits_with_side_effects_are_refused() -> None:
    edges = "tasks:\n- id: a\n  action_type: llm\n- id: b\n  action_type: llm\nedges:\n- [a, b]\n"
    with pytest.raises(InputError, match="cannot be made by a button"):
        rename_task(edges, "a", "x")
    with pytest.raises(InputError, match="cannot be made by a button"):
        unlink_task(edges, "b", "a")
    with pytest.raises(InputError, match="cannot be the id"):
        rename_task(PLAN, "survey", "brief")
    with pytest.raises(InputError, match="no single task"):
        remove_task("tasks:\n- id: a\n- id: a\n", "a")


def test_line_ends_are_kept() -> None:
    windows = PLAN.replace("\n", "\r\n")
    for changed, plain in (
        (add_task(windows, ["brief"])[0], add_task(PLAN, ["brief"])[0]),
        (rename_task(windows, "survey", "look"), rename_task(PLAN, "survey", "look")),
        (unlink_task(windows, "brief", "survey"), unlink_task(PLAN, "brief", "survey")),
    ):
        assert changed == plain.replace("\n", "\r\n")


def test_a_byte_order_mark_is_kept() -> None:
    assert rename_task("\ufeff" + PLAN, "survey", "look") == "\ufeff" + rename_task(PLAN, "survey", "look")


def test_json_with_escaped_surrogates_can_be_edited() -> None:
    text = json.dumps({"tasks": [task("a", instruction="Party 🎉"), task("b", "a")]})
    assert "\\ud83c" in text
    document = load(rename_task(text, "a", "first"))
    assert [row["id"] for row in document["tasks"]] == ["first", "b"]
    assert document["tasks"][0]["instruction"] == load(text)["tasks"][0]["instruction"]
