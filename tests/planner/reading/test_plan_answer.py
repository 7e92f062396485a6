"""Plans as models write them: damage that needs no guess is repaired exactly, anything else is refused."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.change_answer import ChangeReading, read_change
from goalwright_planner.reading.normal_form import normal_form
from goalwright_planner.reading.plan_answer import find, read_answer, read_plan
from goalwright_planner.reading.shape import SHAPES
from tests.growth import growth

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN = Known(["writing", "review"], {"sheet_read": {"properties": {"path": {"type": "string"}}, "required": ["path"]}})
PLAN: dict[str, Any] = {
    "tasks": [
        {"id": "survey", "title": "Survey", "action_type": "skill", "name": "writing",
         "instruction": "List 'em: \"all\"",
         "arguments": "", "depends_on": []},
        {"id": "sheet", "action_type": "tool", "name": "sheet_read", "arguments": {"path": "a.xlsx"}, "depends_on": []},
        {"id": "brief", "action_type": "llm", "instruction": "Use <<survey.output>>, None and True: it's 5 % of #1.",
         "depends_on": ["survey", "sheet"]},
    ],
    "synthesis": "Give the brief.",
    "clarification": None,
}  # fmt: skip
EXPECTED = Plan.from_dict(PLAN)


def tasks(change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """The plan as JSON, with each task changed."""
    return json.dumps(PLAN | {"tasks": [change(copy.deepcopy(task)) for task in PLAN["tasks"]]})


def renamed(old: str, new: str) -> str:
    return tasks(lambda task: {(new if key == old else key): value for key, value in task.items()})


def bare_keys(document: Any) -> str:
    match document:
        case dict():
            return "{" + ", ".join(f"{key}: {bare_keys(value)}" for key, value in document.items()) + "}"
        case list():
            return "[" + ", ".join(map(bare_keys, document)) + "]"
        case _:
            return json.dumps(document)


def curly(document: dict[str, Any]) -> str:
    without = json.dumps(document).replace('\\"', "")
    pieces = without.split('"')
    return "".join(piece + ("“" if number % 2 == 0 else "”") for number, piece in enumerate(pieces[:-1])) + pieces[-1]


EXACT = {
    "json": json.dumps(PLAN),
    "python": repr(PLAN),
    "python with null": repr(PLAN).replace("'clarification': None", "'clarification': null"),
    "bare keys": bare_keys(PLAN),
    "bare keys and single quotes": re.sub(r"'(\w+)':", r"\1:", repr(PLAN)),
    "None in JSON": json.dumps(PLAN).replace("null", "None"),
    "escaped single quotes": json.dumps(PLAN).replace("'", "\\'"),
    "yaml": yaml.safe_dump(PLAN, sort_keys=False),
    "yaml in a fence": f"Here it is:\n```yaml\n{yaml.safe_dump(PLAN, sort_keys=False)}```\n",
    "python in a fence": f"```python\n{PLAN!r}\n```",
    "tool call": json.dumps({"name": "make_plan", "arguments": PLAN}),
    "tool call with text": json.dumps({"name": "make_plan", "arguments": json.dumps(PLAN)}),
    "tool call tag": f"<tool_call>\n{json.dumps({'name': 'plan', 'arguments': PLAN})}\n</tool_call>",
    "function call": json.dumps({"type": "function", "function": {"name": "plan", "arguments": json.dumps(PLAN)}}),
    "plan wrapper": json.dumps({"plan": PLAN}),
    "thinking": f"<think>so {{many}} tasks</think>{PLAN!r}",
    "a list": json.dumps(PLAN["tasks"]),
    "dependencies": renamed("depends_on", "dependencies"),
    "deps": renamed("depends_on", "deps"),
    "after": renamed("depends_on", "after"),
    "requires": renamed("depends_on", "requires"),
    "description": renamed("instruction", "description"),
    "prompt": renamed("instruction", "prompt"),
    "action": renamed("action_type", "action"),
    "type": renamed("action_type", "type"),
    "task_id": renamed("id", "task_id"),
    "keys in another case": tasks(lambda task: {key.title().replace("_", "-"): task[key] for key in task}),
    "task": renamed("instruction", "task"),
    "steps": json.dumps({("steps" if key == "tasks" else key): value for key, value in PLAN.items()}),
    "dependencies as text": tasks(lambda task: task | {"depends_on": ", ".join(task["depends_on"])}),
    "upper case": tasks(lambda task: task | {"action_type": task["action_type"].upper()}),
    "arguments as text": tasks(
        lambda task: task | {"arguments": json.dumps(task["arguments"])} if task["action_type"] == "tool" else task
    ),
    "unknown harmless keys": tasks(lambda task: task | {"priority": "high", "estimate": 3.5}),
}


@pytest.mark.parametrize("kind", EXACT)
def test_damage_that_needs_no_guess_is_repaired_exactly(kind: str) -> None:
    reading = read_answer(EXACT[kind], SHAPES["full"], KNOWN)
    assert reading.faults == ()
    assert Plan.from_dict(reading.document) == (Plan(EXPECTED.tasks) if kind == "a list" else EXPECTED)
    assert bool(reading.repairs) == (kind != "json")


def test_curly_quotes_are_read_if_no_straight_quotes_delimit() -> None:
    plain = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "Say it's done.", "depends_on": []}]}
    reading = read_answer(curly(plain), SHAPES["full"], KNOWN)
    assert (reading.faults, Plan.from_dict(reading.document)) == ((), Plan.from_dict(plain))
    with pytest.raises(NotJson):
        read_answer(curly(plain).replace("“a”", '"a"'), SHAPES["full"], KNOWN)


def test_a_plan_that_breaks_off_after_a_task_is_refused() -> None:
    text = 'Here it is: {"tasks": [{"id": "a", "action_type": "llm", "instruction": "go"}'
    with pytest.raises(NotJson, match="the answer breaks off"):
        read_answer(text, SHAPES["full"], KNOWN)


@pytest.mark.parametrize("number", [1, 2, 3, 5, 20])
def test_a_plan_whose_end_is_lost_is_refused(number: int) -> None:
    for text in (json.dumps(PLAN), repr(PLAN)):
        with pytest.raises(NotJson):
            read_answer(text[:-number], SHAPES["full"], KNOWN)


def test_a_missing_inner_bracket_is_restored() -> None:
    reading = read_answer('{"tasks": [{"id": "a", "action_type": "llm", "instruction": "go"]}', SHAPES["full"], KNOWN)
    repairs = ("commas, comments or an inner bracket corrected",)
    assert (reading.faults, reading.repairs, len(reading.document["tasks"])) == ((), repairs, 1)


@pytest.mark.parametrize(
    "text",
    [
        """{"tasks": [{"id": "a", "action_type": "llm", "instruction": "Say "hello" now", "depends_on": []}]}""",
        """{'tasks': [{'id': 'a', 'action_type': 'llm', 'instruction': 'Don't', 'depends_on': []}]}""",
        """{'tasks': [{'id': 'a', 'action_type': 'llm', 'instruction': 'Say ''hello'' now', 'depends_on': []}]}""",
        """{"tasks": [{"id": "a", "action_type": "llm", "depends_on": ["b"], "depends_on": []}]}""",
        """{'tasks': [{'id': 'a', 'action_type': 'llm', 'instruction': f'{1}', 'depends_on': []}]}""",
        """{'tasks': [{'id': 'a', 'action_type': 'llm', 'instruction': __import__('os').name, 'depends_on': []}]}""",
        "{tasks: [{id: 'a', action_type: 'llm', instruction: go, depends_on: []}]}",
        "{tasks: [{id: 'a', action_type: 'llm', depends_on: ['b'], depends_on: []}]}",
        "tasks:\n- id: a\n  action_type: llm\n  depends_on: [b]\n  depends_on: []\n",
    ],
)
def test_ambiguous_text_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        read_answer(text, SHAPES["full"], KNOWN)


def row(**keys: Any) -> dict[str, Any]:
    return {"id": "b", "action_type": "llm", "instruction": "go"} | keys


def test_numbers_become_ids_and_yaml_scalars_stay_text() -> None:
    numbered = {"tasks": [row(id=1), row(id=2, depends_on=[1]), row(id=3, depends_on=2)]}
    plan = Plan.from_dict(read_plan(numbered, KNOWN).document)
    assert [(task.id, task.depends_on) for task in plan.tasks] == [("1", ()), ("2", ("1",)), ("3", ("2",))]
    text = "tasks:\n- id: 010\n  action_type: llm\n  title: yes\n  instruction: 2026-01-31\n  depends_on: []\n"
    (task,) = Plan.from_dict(read_answer(text, SHAPES["full"], KNOWN).document).tasks
    assert (task.id, task.title, task.instruction) == ("010", "yes", "2026-01-31")


@pytest.mark.parametrize("wanted", [True, "Send it?"])
def test_an_approval_is_read(wanted: object) -> None:
    text = json.dumps({"tasks": [row(needs_approval=wanted)]})
    now = read_answer(text, SHAPES["full"], KNOWN)
    (task,) = Plan.from_dict(now.document).tasks
    assert (now.faults, now.repairs, task.needs_approval) == ((), (), wanted)
    assert task.to_dict()["needs_approval"] == wanted


def test_aliases_are_read_in_numbered_plans() -> None:
    text = json.dumps({"tasks": [{"id": "t1", "use": "writing", "description": "Write it", "deps": []}]})
    (task,) = Plan.from_dict(read_answer(text, SHAPES["numbered"], KNOWN).document).tasks
    assert (task.name, task.instruction) == ("writing", "Write it")


def test_find_returns_the_document_with_the_key() -> None:
    answer = find(f"First {json.dumps(PLAN)} or {{'x': 1}} and again {json.dumps(PLAN)}", "tasks")
    assert (answer.document, answer.others) == (PLAN, ({"x": 1},))
    assert find("{'skills': ['a', 'b']}", "skills").document == {"skills": ["a", "b"]}


OTHER = PLAN | {"tasks": PLAN["tasks"][:2]}
PART = {"tasks": [{"id": "more", "action_type": "llm", "instruction": "go", "depends_on": []}]}
FENCED = f"```json\n{json.dumps(PLAN)}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        f"Option A:\n{FENCED}Option B:\n```json\n{json.dumps(OTHER)}\n```",
        f"{FENCED}An alternative: {json.dumps(OTHER)}",
        f"{FENCED}Part two:\n```json\n{json.dumps(PART)}\n```",
        f"{FENCED}Part two:\n```yaml\n{yaml.safe_dump(PART)}```",
        f"{FENCED}and then\n```json\n{json.dumps(PART['tasks'])}\n```",
        f"{FENCED}and then\n```json\n{json.dumps(PART['tasks'][0])}\n```",
        f"{FENCED}with the edges\n```json\n{json.dumps({'edges': [['survey', 'sheet']]})}\n```",
        f'{FENCED}or {{"tasks": [{{"id": "cut',
        f"{json.dumps(PLAN)}\n{json.dumps(OTHER)}",
        f"<tool_call>{json.dumps(PLAN)}</tool_call><tool_call>{json.dumps(OTHER)}</tool_call>",
        f"{FENCED}(The remaining tasks were left out for brevity.)",
        json.dumps(PLAN)[:-2].replace('], "synthesis"', ', // ... more tasks here\n], "synthesis"') + "l}",
        repr(PLAN).replace("], 'synthesis'", ", # and so on\n], 'synthesis'"),
        bare_keys(PLAN).replace("], synthesis", ", /* remaining tasks */ ], synthesis"),
        yaml.safe_dump({"tasks": PLAN["tasks"]}, sort_keys=False) + "# ... more tasks here\n",
        json.dumps({"tasks": [*PLAN["tasks"], "..."]}),
        json.dumps({"tasks": [*PLAN["tasks"], {"id": "rest", "action_type": "llm", "instruction": "..."}]}),
    ],
)
def test_two_plans_in_an_answer_and_tasks_left_out_are_faults(text: str) -> None:
    try:
        reading = read_answer(text, SHAPES["full"], KNOWN)
    except NotJson:
        return
    assert reading.faults


@pytest.mark.parametrize(
    "text",
    [
        FENCED * 2,
        f'{FENCED}The result will look like {{"rows": 3}}.',
        f"{FENCED}```mermaid\ngraph TD\n  survey --> sheet\n```\nSo sheet depends on survey.",
        FENCED.replace('], "synthesis"', '], // how to put it together\n "synthesis"'),
    ],
)
def test_harmless_text_beside_a_plan_is_ignored(text: str) -> None:
    reading = read_answer(text, SHAPES["full"], KNOWN)
    assert (reading.faults, Plan.from_dict(reading.document)) == ((), EXPECTED)


def test_edges_in_a_change_apply_to_added_tasks_only() -> None:
    plan = Plan.from_dict({"tasks": [row(id="a"), row(id="b", depends_on=["a"])]})
    added: dict[str, Any] = {"add": [row(id="c"), row(id="d")], "drop": [], "rewire": {}, "give_up": None}

    def read(**keys: Any) -> ChangeReading:
        return read_change(json.dumps(added | keys), plan, {"a": "done", "b": "done"}, KNOWN)

    reading = read(edges=[["a", "c"], ["c", "d"]])
    assert (reading.faults, [task.depends_on for task in reading.change.added]) == ((), [("a",), ("c",)])
    (fault,) = read(edges=[{"from": "c", "to": "b"}]).faults
    assert "a key of the change adds dependencies to tasks of the plan (b)" in fault
    assert read(order=["c", "d"]).faults
    text = json.dumps(added) + json.dumps(added | {"add": [row(id="e")]})
    assert "that differ" in "".join(read_change(text, plan, {}, KNOWN).faults)


names = st.text("abcdefgh0123456789-_", min_size=1, max_size=6)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=40)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """A valid plan with the keys that goalwright knows."""
    ids = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    rows = [
        {
            "id": one,
            "action_type": "llm",
            "instruction": draw(texts).replace("<<", "") or "x",
            "depends_on": draw(st.lists(st.sampled_from(ids[:number]), unique=True)) if number else [],
        }
        for number, one in enumerate(ids)
    ]
    return {"tasks": rows, "synthesis": draw(st.none() | texts), "clarification": None}


@given(plans())
def test_a_valid_document_is_never_changed(document: dict[str, Any]) -> None:
    form = normal_form(copy.deepcopy(document))
    assert (form.document, form.repairs, form.faults) == (document, [], [])


@given(plans(), st.sampled_from(["repr", "bare", "yaml", "deps", "description"]))
def test_a_damaged_plan_is_read_exactly_or_refused(document: dict[str, Any], kind: str) -> None:
    damaged = {
        "repr": repr(document),
        "bare": bare_keys(document),
        "yaml": yaml.safe_dump(document, sort_keys=False, allow_unicode=True),
        "deps": json.dumps(document).replace('"depends_on":', '"deps":'),
        "description": json.dumps(document).replace('"instruction":', '"description":'),
    }[kind]
    try:
        reading = read_answer(damaged, SHAPES["full"], KNOWN)
    except NotJson:
        assert kind in ("repr", "yaml"), "text that Python or YAML cannot carry"
        return
    if kind == "yaml" and yaml.safe_load(damaged) != document:
        return  # PyYAML itself writes a few characters, such as U+0085, so that they come back as others
    if not reading.faults:
        assert Plan.from_dict(reading.document) == Plan.from_dict(document)


ADAPTIVE: dict[str, Any] = {
    "tasks": [
        {"id": "a", "action_type": "llm", "instruction": "list", "depends_on": []},
        {"id": "b", "action_type": "llm", "instruction": "Do <<item>>", "depends_on": ["a"],
         "when": "<<a.count>> > 1", "for_each": "<<a.output>>", "width": 2},
    ]
}  # fmt: skip


def test_conditions_and_lists_are_read() -> None:
    reading = read_answer(json.dumps(ADAPTIVE), SHAPES["full"], KNOWN)
    assert (reading.faults, reading.repairs) == ((), ())
    task = Plan.from_dict(reading.document).task("b")
    assert (task.when, task.for_each, task.width, task.first) == ("<<a.count>> > 1", "<<a.output>>", 2, None)


def test_an_item_in_a_plan_is_dropped() -> None:
    reading = read_plan({"tasks": [{**ADAPTIVE["tasks"][0], "item": "x"}]}, KNOWN)
    assert (reading.faults, reading.repairs) == ((), ("task 'a': the unknown key 'item' was dropped",))


@pytest.mark.parametrize(
    ("arguments", "text"), [({"to": "Zoë"}, '{"to": "Zoë"}'), (["a", 1], '["a", 1]'), ({}, ""), ([], "")]
)
def test_arguments_of_a_skill_become_json_text(arguments: object, text: str) -> None:
    task = {"id": "a", "action_type": "skill", "name": "writing", "arguments": arguments, "depends_on": []}
    reading = read_answer(json.dumps({"tasks": [task]}), SHAPES["full"], KNOWN)
    assert (reading.document["tasks"][0]["arguments"], reading.faults) == (text, ())
    assert reading.repairs == ("task 'a': 'arguments' respelt",)


def test_a_question_needs_no_tasks() -> None:
    reading = read_answer('{"clarification": "Which one?"}', SHAPES["full"], KNOWN)
    assert (reading.document["clarification"], reading.faults) == ("Which one?", ())


def test_a_question_beside_tasks_is_dropped_with_a_warning() -> None:
    reading = read_plan({"tasks": [row(id="a")], "clarification": "Which one? "}, KNOWN)
    assert (reading.faults, reading.repairs) == ((), ("the question beside the tasks was not asked: 'Which one?'",))
    assert read_plan({"tasks": [row(id="a")], "clarification": " "}, KNOWN).repairs == ()


def _chain(at: int, _: int) -> list[str]:
    return [f"task-{at - 1}"] if at else []


def _fan(at: int, count: int) -> list[str]:
    return [f"task-{one}" for one in range(1, at)] if at == count - 1 else ["task-0"] * (at > 0)


def _layers(at: int, _: int) -> list[str]:
    begin = at // 20 * 20
    return [f"task-{one}" for one in range(begin - 20, begin)] if begin else []


@pytest.mark.slow
@pytest.mark.parametrize("depends_on", [_chain, _fan, _layers])
@pytest.mark.parametrize("more", [{}, {"priority": "high", "notes": ["see task-3"]}])
def test_reading_takes_time_linear_in_the_tasks(
    depends_on: Callable[[int, int], list[str]], more: dict[str, object]
) -> None:
    def read(count: int) -> None:
        tasks = [
            {"id": f"task-{at}", "action_type": "llm", "instruction": "Do it.", "depends_on": depends_on(at, count)}
            for at in range(count)
        ]
        edges = [[f"task-{at - 1}", f"task-{at}"] for at in range(1, count)] if depends_on is _chain else []
        reading = read_plan({"tasks": [{**task, **more} for task in tasks], "edges": edges}, Known(max_tasks=count))
        assert len(reading.document["tasks"]) == count

    assert growth(read, 200, 800) < 1.5
