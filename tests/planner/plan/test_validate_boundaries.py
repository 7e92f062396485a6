"""The boundaries of a valid plan: the last value that is accepted, and the first that is not, with its exact fault."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from goalwright_planner.plan.known import Known
from goalwright_planner.plan.validate import problems
from goalwright_planner.reading.plan_answer import read_plan

TOOL = {
    "properties": {
        "path": {"type": "string"},
        "rows": {"type": "integer"},
        "share": {"type": "number"},
        "deep": {"type": "boolean"},
        "names": {"type": "array"},
        "options": {"type": "object"},
        "form": {"enum": ["csv", "json"]},
        "odd": {"type": "matrix", "enum": "csv"},
        "any": {},
    },
    "required": ["path"],
}
KNOWN = Known(["code-review"], {"excel_read": TOOL, "excel_info": {}}, max_tasks=40)


def llm(task_id: Any, *before: Any, **keys: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "depends_on": list(before), **keys}


def call(**arguments: Any) -> dict[str, Any]:
    return {"id": "b", "action_type": "tool", "name": "excel_read", "arguments": {"path": "x"} | arguments}


def faults(*tasks: Any, known: Known = KNOWN, **keys: Any) -> list[str]:
    return problems({"tasks": list(tasks), **keys}, known)


# The document


def test_a_plan_may_have_max_tasks_and_no_more() -> None:
    known = Known(max_tasks=3)
    assert faults(*(llm(f"t{number}") for number in range(3)), known=known) == []
    assert faults(*(llm(f"t{number}") for number in range(4)), known=known) == [
        "the plan has 4 tasks, more than the 3 allowed; merge some"
    ]
    assert faults(llm("only"), known=Known(max_tasks=1)) == []


@pytest.mark.parametrize("value", [None, "", "text"])
def test_synthesis_and_clarification_are_text_or_null(value: object) -> None:
    assert faults(llm("a"), synthesis=value, clarification=value) == []


@pytest.mark.parametrize("value", [0, False, [], {}])
def test_other_values_of_synthesis_are_faults_even_if_empty(value: object) -> None:
    found = faults(llm("a"), synthesis=value, clarification=value)
    assert [fault.split(" must")[0] for fault in found] == ["'synthesis'", "'clarification'"]


def test_a_question_counts_only_without_tasks() -> None:
    nothing: list[Any] = [[], None, {}, ""]
    for tasks in nothing:
        assert problems({"tasks": tasks, "clarification": "Which?"}, KNOWN) == []
    assert problems({"tasks": [], "clarification": "Which?", "synthesis": 3}, KNOWN) == [
        "'synthesis' must be a string or null, not a number"
    ]
    assert faults(llm("a", "x"), clarification="Which?") == [
        "task 'a' depends on 'x', which is not in the plan; tasks are: a"
    ]
    assert problems({"tasks": "a", "clarification": "Which?"}, KNOWN) == [
        "'tasks' must be a list of tasks, not a string"
    ]
    assert problems({"tasks": []}, KNOWN) == [
        "the plan has no tasks; give at least one, or ask a question in 'clarification'"
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("x", "a string"),
        ([], "a list"),
        (date(2026, 1, 1), "a date"),
    ],
)
def test_a_document_of_another_type_is_named(value: object, kind: str) -> None:
    assert problems(value, KNOWN) == [f"the plan must be a JSON object with a 'tasks' list, not {kind}"]
    assert faults(value) == [f"task number 1 must be an object, not {kind}"]
    assert problems({"tasks": {"a": 1}}, KNOWN) == ["'tasks' must be a list of tasks, not an object"]


# Ids


@pytest.mark.parametrize("task_id", ["a", "-", "_", "7", "A-b_9", "é", "任务", "x" * 64])
def test_an_id_has_letters_digits_underscores_and_hyphens_up_to_64(task_id: str) -> None:
    assert faults(llm(task_id)) == []


@pytest.mark.parametrize("task_id", ["x" * 65, "a.b", "a b", " a", "a\n", "a/b", "<<a>>", "\u200b"])
def test_any_other_id_is_a_fault(task_id: str) -> None:
    assert faults(llm(task_id)) == [f"task id {task_id!r} may hold only letters, digits, '_' and '-', 64 at most"]


@pytest.mark.parametrize("task_id", [None, ""])
def test_an_empty_id_is_missing(task_id: object) -> None:
    missing = "has no 'id'; give each task a short unique one"
    assert faults(llm(task_id), {"action_type": "llm"}) == [f"task number 1 {missing}", f"task number 2 {missing}"]
    assert faults(llm(task_id), llm(task_id, title=3)) == [
        f"task number 1 {missing}",
        f"task number 2 {missing}",
        "task number 2: 'title' must be a string, not a number",
    ]


@pytest.mark.parametrize(("task_id", "kind"), [(0, "a number"), (False, "a boolean"), (["a"], "a list")])
def test_an_id_is_a_string(task_id: object, kind: str) -> None:
    assert faults(llm("a"), llm(task_id, title=3)) == [
        f"task number 2: 'id' must be a string, not {kind}",
        "task number 2: 'title' must be a string, not a number",
    ]


def test_an_id_used_twice_is_reported_once_with_its_count() -> None:
    assert faults(llm("a"), llm("b"), llm("a"), llm("a")) == ["the id 'a' is used by 3 tasks; ids must be unique"]


@pytest.mark.parametrize("key", ["title", "instruction", "name"])
def test_texts_may_be_null_or_empty(key: str) -> None:
    assert faults(llm("a", **{key: None}), llm("b", **{key: ""})) == []
    assert faults(llm("a", **{key: 0})) == [f"task 'a': '{key}' must be a string, not a number"]


def test_needs_approval_is_a_boolean_or_a_question() -> None:
    assert [faults(llm("a", needs_approval=value)) for value in (True, False, None, "Send it?")] == [[], [], [], []]
    for value, kind in ((1, "a number"), (["x"], "a list"), ({}, "an object"), (" ", "an empty string")):
        assert faults(llm("a", needs_approval=value)) == [
            f"task 'a': 'needs_approval' must be true, false or a question to a person, not {kind}"
        ]


# Dependencies


@pytest.mark.parametrize("value", [None, []])
def test_a_task_may_depend_on_nothing(value: object) -> None:
    assert faults(llm("a") | {"depends_on": value}, {"id": "b", "action_type": "llm"}) == []


def test_dependencies_are_a_list_of_strings() -> None:
    wanted = "'depends_on' must be a list of task ids, not"
    assert faults(llm("a"), llm("b") | {"depends_on": ""}) == [f"task 'b': {wanted} a string"]
    assert faults(llm("a"), llm("b") | {"depends_on": {}}) == [f"task 'b': {wanted} an object"]
    assert faults(llm("a"), llm("b", 1)) == ["task 'b': 'depends_on' must hold task ids as strings only"]
    assert faults(llm("a"), llm("b", "a", None, "x")) == [
        "task 'b': 'depends_on' must hold task ids as strings only",
        "task 'b' depends on 'x', which is not in the plan; tasks are: a, b",
    ]


def test_a_task_depends_on_others_and_not_on_itself() -> None:
    assert faults(llm("a", "a", "b"), llm("b")) == ["task 'a' depends on itself"]
    assert faults(llm("a", "b"), llm("b", "c"), llm("c")) == []


def test_each_circle_is_reported_once() -> None:
    end = "each waiting for the next; remove one of them"
    found = faults(llm("a", "b"), llm("b", "a"), llm("c", "d"), llm("d", "c"), llm("e", "a", "c"))
    assert sorted(found) == [
        f"the dependencies go in a circle: a → b → a, {end}",
        f"the dependencies go in a circle: c → d → c, {end}",
    ]


@pytest.mark.parametrize(("count", "more"), [(30, ""), (31, " and 1 more")])
def test_thirty_tasks_are_named_and_the_rest_is_counted(count: int, more: str) -> None:
    tasks = [llm(f"t{number}") for number in range(count)]
    names = ", ".join(f"t{number}" for number in range(30))
    (fault,) = faults(*tasks[:-1], llm(f"t{count - 1}", "x"))
    assert fault.endswith(f"which is not in the plan; tasks are: {names}{more}")
    (fault,) = faults(*tasks[:-1], llm(f"t{count - 1}", instruction="<<x.output>>"))
    assert fault.endswith(f"but there is no task 'x'; tasks are: {names}{more}")


# References


def test_a_reference_needs_a_task_upstream_directly_or_through_others() -> None:
    chain = (llm("a"), llm("b", "a"), llm("c", "b", instruction="<<a.output>> << b.output >>"))
    assert faults(*chain) == []
    assert faults(llm("a"), llm("b"), llm("c", "b", instruction="<<a.output>> <<a.output>>")) == [
        "task 'c' refers to <<a.output>>, but 'a' is not upstream of it; add 'a' to its depends_on"
    ]


def test_a_reference_to_a_downstream_task_is_a_fault() -> None:
    (fault,) = faults(llm("a", instruction="<<c.output>>"), llm("b", "a"), llm("c", "b"))
    assert fault.startswith("task 'a' refers to <<c.output>>, but 'c' is not upstream of it; ")
    assert fault.endswith("; it waits for this task: leave the reference out")


def test_references_in_arguments_are_checked_at_any_depth() -> None:
    task = call(any={"list": ["<<b.output>>", 3, "<<x.output>>"]})
    assert faults(llm("a"), task) == [
        "task 'b' refers to <<b.output>>, its own output; leave that out, or name another task",
        "task 'b' refers to <<x.output>>, but there is no task 'x'; tasks are: a, b",
    ]
    assert faults(call() | {"instruction": "no reference: <<EOF cat << a >> b {{a.output}}"}) == []


# Skills and tools


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_skill_or_tool_needs_a_name(name: object) -> None:
    skill = faults({"id": "a", "action_type": "skill", "name": name})
    assert skill[-1] == "task 'a': a skill task needs 'name', the skill's; known are: code-review"
    tool = faults({"id": "a", "action_type": "tool", "name": name})
    assert tool[-1] == "task 'a': a tool task needs 'name', the tool's; known are: excel_read, excel_info"
    assert len(skill) == len(tool) == 1 + (name == 3)


@pytest.mark.parametrize("arguments", [None, "", {}, []])
def test_empty_arguments_are_no_arguments(arguments: object) -> None:
    task = {"id": "a", "name": "code-review", "action_type": "skill", "arguments": arguments}
    assert faults(task) == []
    assert faults(task | {"action_type": "tool", "name": "excel_info"}) == []
    assert faults(task | {"action_type": "tool", "name": "excel_read"}) == [
        "task 'a': tool 'excel_read' needs the argument 'path'"
    ]


def test_arguments_are_text_for_a_skill_an_object_for_a_tool_and_ignored_without_either() -> None:
    task = {"id": "a", "name": "code-review", "action_type": "skill"}
    assert faults(task | {"arguments": "short"}) == []
    assert faults(task | {"arguments": [1]}) == ["task 'a': 'arguments' of a skill task must be a string, not a list"]
    assert faults({"id": "a", "action_type": "tool", "name": "excel_read", "arguments": "x"}) == [
        "task 'a': 'arguments' of a tool task must be an object, not a string"
    ]
    assert faults(llm("a", arguments={"x": 1})) == []


def test_an_unknown_tool_is_one_fault_and_its_arguments_are_not_checked() -> None:
    task = {"id": "a", "action_type": "tool", "name": "zzz", "arguments": {"x": 1}}
    assert faults(task) == ["task 'a': there is no tool 'zzz'; known are: excel_read, excel_info"]
    assert len(faults(task | {"arguments": "x"})) == 2


@pytest.mark.parametrize("action", ["SKILL", "", 3, False])
def test_an_action_is_one_of_four(action: object) -> None:
    known = "it must be one of skill, tool, llm, goal"
    assert faults({"id": "a", "action_type": action}) == [f"task 'a': 'action_type' is {action!r}; {known}"]
    assert faults({"id": "a", "action_type": None}) == [f"task 'a': 'action_type' is missing; {known}"]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"path": 5}, "a string as 'path', not 5"),
        ({"rows": 1.5}, "an integer as 'rows', not 1.5"),
        ({"share": "half"}, "a number as 'share', not 'half'"),
        ({"deep": 0}, "a boolean as 'deep', not 0"),
        ({"names": "a"}, "an array as 'names', not 'a'"),
        ({"options": []}, "an object as 'options', not []"),
        ({"form": "xml"}, "one of 'csv', 'json' as 'form', not 'xml'"),
        ({"rows": "9" * 100}, f"an integer as 'rows', not '{'9' * 79}"),
    ],
)
def test_an_argument_has_the_type_and_choice_of_its_parameter(arguments: dict[str, Any], wanted: str) -> None:
    assert faults(call(**arguments)) == [f"task 'b': tool 'excel_read' takes {wanted}"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows": 0},
        {"share": 1},
        {"share": 0.5},
        {"deep": False},
        {"names": []},
        {"options": {}},
        {"form": "csv"},
        {"form": None},
        {"odd": "anything"},
        {"any": object()},
    ],
)
def test_an_argument_that_the_tool_may_accept_is_no_fault(arguments: dict[str, Any]) -> None:
    assert faults(call(**arguments)) == []


def test_an_unknown_argument_is_a_fault_with_any_value() -> None:
    (fault,) = faults(call(row=None))
    assert fault.startswith("task 'b': tool 'excel_read' has no argument 'row'; known are: rows, ")


@pytest.mark.parametrize("levels", [99, 300, 5_000])
def test_too_deep_nesting_is_a_fault(levels: int) -> None:
    deep: dict[str, Any] = {}
    for _ in range(levels):
        deep = {"properties": {"a": deep}}
    row = {"id": "a", "action_type": "llm", "instruction": "x", "output_schema": deep}
    found = read_plan({"tasks": [row]}, Known())
    assert found.faults == ("the plan is nested more than 100 levels deep; make it flatter",)
    assert faults(row) == ["task number 1 is nested more than 100 levels deep; make it flatter"]


# What a plan's texts refer to


@pytest.mark.parametrize("reference", ["<<e.total>>", "<<zzz.result>>", "<<e.output | upper>>", "<<e[0].output>>"])
@pytest.mark.parametrize("key", ["instruction", "arguments", "check", "when", "needs_approval", "synthesis", "title"])
def test_an_invalid_reference_is_a_fault_in_every_text(reference: str, key: str) -> None:
    text = f"Say {reference}."
    value: dict[str, Any] = {"check": {"ask": text}, "when": {"ask": text}, "arguments": text}
    task = llm("b", "e", instruction="go")
    if key == "arguments":
        task |= {"action_type": "skill", "name": "code-review"}
    more: dict[str, Any] = {key: text} if key == "synthesis" else {}
    found = faults(llm("e"), task if more else task | {key: value.get(key, text)}, **more)
    assert len(found) == 1
    assert f"refers to {reference}, which cannot be read; write <<id.output>>" in found[0]


def test_statuses_counts_and_items_may_be_referred_to_in_every_text() -> None:
    text = "<<e.status>> <<e.count>> <<each[2].output>> <<each[1].status>> <<each[1].count>> <<each[1].output.price>>"
    each = llm("each", "e", instruction="Do <<item>>", for_each="<<e.output>>")
    task = llm("b", "each", instruction=text, check={"ask": text}, needs_approval=text)
    assert faults(llm("e"), each, task, synthesis=text) == []
    over = llm("over", "each", instruction="<<item>>", for_each="<<each[1].output>>", when="<<each[1].count>> > 0")
    assert faults(llm("e"), each, over) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<<e[1].output>>", "but 'e' has no for_each, so it has no items; write <<e.output[0]>> for a value"),
        ("<<each[3].output>>", "but 'each' has 2 items, and the first is [1]"),
        ("<<each.output[0].price>>", "but 'each' has no output_schema; give it one with that field"),
        ("<<zzz.count>>", "but there is no task 'zzz'; tasks are: e, each, b"),
        ("<<later.status>>", "but there is no task 'later'"),
        ("<<b.status>>", "its own; leave that out, or name another task"),
        ("<<e>>", "which stays text; write <<e.output>>"),
        ("{{e.output}}", "which stays text; write <<e.output>>"),
    ],
)
def test_a_reference_to_a_value_that_cannot_exist_is_a_fault(text: str, message: str) -> None:
    each = llm("each", "e", instruction="Do <<item>>", for_each=["x", "y"])
    (fault,) = faults(llm("e"), each, llm("b", "each", instruction=text))
    assert f"task 'b' refers to {text}, {message}" in fault


@pytest.mark.parametrize("text", ["<<user.name>>", "<<nobody.output>>", "<<zzz.count>>", "{{e.output}}", "<<e>>"])
def test_text_quoted_from_the_goal_is_not_a_reference(text: str) -> None:
    rows = [llm("e", instruction=f"Explain {text}"), llm("b", "e", check={"ask": text}, instruction=text)]
    assert faults(*rows) != []
    quoting = Known(quoted=[f"What does {text} mean in a template?"])
    assert faults(*rows, known=quoting, synthesis=f"Explain {text}") == []
    assert faults(*rows, goal=f"What does {text} mean?") == []


def test_the_synthesis_may_read_every_task_and_no_item() -> None:
    assert faults(llm("a"), llm("b", "a"), synthesis="Give <<a.output>>, then <<b.output>>.") == []
    assert faults(llm("a"), synthesis="Give <<b.output>> and <<item>>.") == [
        "'synthesis' refers to <<item>>, which stands for an item of 'for_each'; name a task instead"
    ]
    assert faults(llm("a"), synthesis="Give <<b.output>>.") == [
        "'synthesis' refers to <<b.output>>, but there is no task 'b'; tasks are: a"
    ]
