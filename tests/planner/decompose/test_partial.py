"""A plan that is still being written: whatever the pieces, each task is handed out once, whole, in order."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from goalwright_planner.decompose.partial import PartialPlan

_TEXTS = ("plain", 'with "quotes" and \\ backslash', "[{]}", "ünï \u2028 😀", '{"tasks": [{"id": "no"}]}', "")


def written(draw: random.Random) -> tuple[str, list[Any]]:
    """A random plan as a model may write it, and its tasks."""
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


def test_random_plans_cut_at_random_give_their_own_tasks_and_never_a_wrong_one() -> None:
    draw = random.Random(11)
    for _ in range(400):
        text, tasks = written(draw)
        reader, found, at = PartialPlan(), [], 0
        while at < len(text):
            step = draw.randrange(1, 30)
            found += reader.feed(text[at : at + step])
            at += step
            assert found == tasks[: len(found)]
        assert found == tasks


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
def test_what_is_not_strictly_a_plan_stops_it(text: str, tasks: list[Any]) -> None:
    reader = PartialPlan()
    assert [row for char in text for row in reader.feed(char)] == tasks
    assert PartialPlan().feed(text) == tasks
