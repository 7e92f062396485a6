"""Goals that contain material."""

from __future__ import annotations

import pytest

from goalwright_planner.small_models.material import brings_material, material_of
from tests.growth import growth

ROOM = (
    "You are in a workshop with a bench 1, a shelf 2 and a tap 1.\n\nYour task is to: put a clean brush on the bench. "
    "The actions you can take: 1. go to {place}\n2. take {thing} from {place}\n3. wash {thing} at {place}"
)


@pytest.mark.parametrize(
    ("goal", "material"),
    [
        (ROOM, "data"),
        ("Which members borrowed three books?\nTables: members (id, name), loans (member_id, book_id)", "data"),
        ("Book a flight. The api list you can use: {'search(query)': 'Search', 'book(flight)': 'Book'}", "functions"),
        ("Who is on call?\napi_list:[{'name': 'rota', 'parameters': {'week': 'the number of a week'}}]", "functions"),
        ("What does this print?\n```python\nprint(1)\n```", "data"),
        ("Our café opens at seven and closes at two.\nQuestion: when should the baker begin?", "data"),
        (
            "Which is it? Choices: A. a moth, B. a wasp. The tools you can use: {'look(image)': 'Describe it'}",
            "choices",
        ),
        ("Which is it? There are some options: A. a moth, B. a wasp.\nContext: it is grey.", "data"),
        ("Available commands: grep, sed and awk. Count the errors in app.log.", "functions"),
    ],
)
def test_material_is_recognised(goal: str, material: str) -> None:
    assert material_of(goal) == material


@pytest.mark.parametrize(
    "goal",
    [
        "Task: write a haiku about rain",
        "Compare tea, coffee and juice [hot or cold] and recommend one",
        "Say which tools you can use to cut larch boards, and in what order",
        "Two things please. Tasks: write the protocol, and plan the tests",
        "1. Read the log\n2. Count the errors\n3. Write a report",
        "Summarize https://example.org/a?b=[c] and cite [1], [2]",
        "",
    ],
)
def test_request_without_material_has_none(goal: str) -> None:
    assert not brings_material(goal)
    assert material_of(goal) is None


@pytest.mark.parametrize(
    ("start", "text"),
    [("", "{"), ("[", "'"), ("", "\n"), ("", ". the\t"), ("", "you can use "), ("", "[':"), ("```", "api ")],
)
def test_hostile_goals_are_read_quickly(start: str, text: str) -> None:
    assert growth(lambda length: material_of(start + text * (length // len(text))), 10_000, 80_000) < 1.5
