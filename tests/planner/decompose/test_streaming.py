"""Tasks that may start while the rest of the plan is being written."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from goalwright_planner.decompose.streaming import EarlyReader, PartialPlan
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.task import Task


def llm(name: str, *before: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "action_type": "llm", "instruction": "go", "depends_on": list(before), **more}


def reader(max_tasks: int = 100) -> EarlyReader:
    return EarlyReader(Known(max_tasks=max_tasks), lambda task: not task.needs_approval)


def early(*rows: Any, **more: Any) -> list[str]:
    one = reader(**more)
    return [task.id for task in one.feed(json.dumps({"tasks": rows}))]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([llm("a"), llm("b", "a"), llm("c", "a", "b")], ["a", "b", "c"]),
        ([llm("b", "a"), llm("a")], ["a", "b"]),
        ([llm("b", "never"), llm("a")], ["a"]),
        ([llm("a"), llm("b", instruction="<<a.output>>"), llm("c")], ["a", "c"]),
        ([llm("a"), llm("b", "a", when='<<a.output>> == "x"')], ["a", "b"]),
        ([llm("a", needs_approval=True), llm("b", "a"), llm("c")], ["c"]),
        ([llm("a"), llm("b", action_type="nothing"), llm("c")], ["a"]),
        ([llm("a"), "no task", llm("c")], ["a"]),
        ([llm("a"), llm("a", instruction="other"), llm("b")], ["a", "b"]),
        ([{"task_id": 1, "type": "llm", "prompt": "go", "deps": []}, llm("b", after=["1"])], ["1"]),
        (
            [
                {"task_id": 1, "type": "llm", "prompt": "go", "after": []},
                {"id": "b", "type": "llm", "prompt": "go", "after": ["1"]},
            ],
            ["1", "b"],
        ),
        ([{"id": "a", "action_type": "llm", "instruction": "go"}, llm("b")], ["b"]),
        ([llm("a", priority=1), llm("b", priority=2), llm("c")], ["c"]),
        ([llm("a"), llm("b", wait_for=["a"]), llm("c", "b"), llm("d")], ["a", "d"]),
    ],
)
def test_valid_task_starts_early_after_its_dependencies(rows: list[Any], found: list[str]) -> None:
    assert early(*rows) == found


@pytest.mark.parametrize(
    ("key", "found"), [("edges", []), ("order", []), ("synthesis", ["a", "b"]), ("reasoning", ["a", "b"])]
)
def test_key_that_may_order_tasks_holds_back_all_tasks(key: str, found: list[str]) -> None:
    text = json.dumps({key: "a -> b", "tasks": [llm("a"), llm("b")]})
    assert [task.id for task in reader().feed(text)] == found


def test_early_tasks_are_limited_by_max_tasks() -> None:
    assert early(llm("a"), llm("b"), llm("c"), max_tasks=2) == ["a", "b"]


def test_early_tasks_do_not_depend_on_the_pieces() -> None:
    draw = random.Random(3)
    names = [f"t{number}" for number in range(8)]
    for _ in range(60):
        rows = [llm(name, *draw.sample(names, draw.randrange(3))) for name in draw.sample(names, 8)]
        text = json.dumps({"tasks": rows})
        whole, pieces = reader(), reader()
        found = [task.id for task in whole.feed(text)]
        cuts = sorted(draw.sample(range(len(text)), 12))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert [task.id for part in parts for task in pieces.feed(part)] == found
        assert all(isinstance(task, Task) for task in whole.tasks.values())


_TEXTS = ("plain", 'with "quotes" and \\ backslash', "[{]}", "ünï \u2028 😀", '{"tasks": [{"id": "no"}]}', "")


def written(draw: random.Random) -> tuple[str, list[Any]]:
    """Return a random plan as a model may write it, and its tasks."""
    tasks = [
        {
            "id": f"t{number}",
            "instruction": draw.choice(_TEXTS),
            "arguments": {draw.choice(_TEXTS): [draw.choice(_TEXTS), {"deep": [1, {}]}]},
            "depends_on": [f"t{draw.randrange(number)}"] if number else [],
        }
        for number in range(draw.randrange(6))
    ]
    plan = {draw.choice(("synthesis", "note")): draw.choice((*_TEXTS, None)), "tasks": tasks, "clarification": None}
    indent = draw.choice((None, 1, 4))
    return json.dumps(plan, ensure_ascii=draw.random() < 0.5, indent=indent), tasks


def test_random_plans_in_random_pieces_give_their_own_tasks() -> None:
    draw = random.Random(11)
    for _ in range(400):
        text, tasks = written(draw)
        reader, rows, offset = PartialPlan(), [], 0
        while offset < len(text):
            step = draw.randrange(1, 30)
            rows += reader.feed(text[offset : offset + step])
            offset += step
            assert rows == tasks[: len(rows)]
        assert rows == tasks


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ('Here is the plan: {"tasks": [{"id": "a"}]}', []),
        ('```json\n{"tasks": [{"id": "a"}]}\n```', []),
        ('[{"id": "a"}]', []),
        ('{"plan": {"tasks": [{"id": "a"}]}}', []),
        ('{"tasks": [[{"id": "a"}]]}', []),
        ('{"tasks": [{"id": "a"}, {"id": "b", "id": "c"}, {"id": "d"}]}', [{"id": "a"}]),
        ('{"tasks": [{"id": "a"}, {id: "b"}, {"id": "c"}]}', [{"id": "a"}]),
        ('{"tasks": [{"id": "a"}]} {"tasks": [{"id": "b"}]}', [{"id": "a"}]),
        ('{"tasks": [{"id": "a"}], "tasks": [{"id": "b"}]}', [{"id": "a"}]),
        ("}]{[" * 20, []),
    ],
)
def test_anything_but_a_strict_plan_stops_the_reader(text: str, tasks: list[Any]) -> None:
    reader = PartialPlan()
    assert [row for char in text for row in reader.feed(char)] == tasks
    assert PartialPlan().feed(text) == tasks
