"""Recipes at a real terminal: parameters are confirmed, and a recipe is offered for a goal that is like it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.nursery import Nursery, Ran
from tests.openai_server import OpenAIServer, Script, scripted
from tests.terminal import start_at_terminal, until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = {"GOALWRIGHT_MODEL": "openai/test-model"}
GOAL = "Write a short guide to Lisbon for the sailing club"
PLAN: dict[str, Any] = {
    "tasks": [{"id": "guide", "action_type": "llm", "instruction": "Write a guide to Lisbon for the sailing club."}]
}
SAVE = ["recipes", "save", "last", "--name", "guide"]


def typed(nursery: Nursery, workspace: Path, command: list[str], lines: Sequence[tuple[bytes, str]]) -> tuple[int, str]:
    """Run a command at a terminal, where each line is typed when its question appears."""
    process, ours = start_at_terminal(nursery, command, workspace, MODEL)
    shown = ""
    for question, line in lines:
        shown += until(ours, question)
        os.write(ours, line.encode())
    shown += until(ours, None)
    os.close(ours)
    return process.wait(60), shown


def test_a_person_confirms_renames_drops_and_adds_parameters(
    workspace: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    assert goalwright("run", "-q", GOAL, cwd=workspace, env=MODEL).status == 0
    answers = [
        (b"'Lisbon' is the parameter", "city\n"),
        (b"'sailing club' is the parameter", "n\n"),
        (b"Another, as NAME=TEXT", "kind=poem\n"),
        (b"Another, as NAME=TEXT", "length=short\n"),
        (b"Another, as NAME=TEXT", "\n"),
    ]
    status, shown = typed(nursery, workspace, SAVE, answers)
    assert (status, "'poem' stands neither" in shown) == (0, True), shown
    document = json.loads(goalwright("recipes", "show", "guide", "--json", cwd=workspace).out)
    assert document["goal"] == "Write a {length} guide to {city} for the sailing club"
    assert document["plan"]["tasks"][0]["instruction"] == "Write a guide to {city} for the sailing club."


def test_a_name_that_a_parameter_cannot_have_is_asked_for_again(
    workspace: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    serve(scripted(PLAN))
    assert goalwright("run", "-q", GOAL, cwd=workspace, env=MODEL).status == 0
    first, second = b"'Lisbon' is the parameter", b"'sailing club' is the parameter"
    answers = [
        (first, "City\n"),
        (first, "Bad Name!\n"),
        (first, f"{'c' * 65}\n"),
        (first, "club\n"),
        (first, "city\n"),
        (second, "city\n"),
        (second, "y\n"),
        (b"Another, as NAME=TEXT", "\n"),
    ]
    status, shown = typed(nursery, workspace, SAVE, answers)
    told = ("'City' may hold only", "'Bad Name!' may hold only", "more than 64", "another parameter 'city'")
    assert (status, [text for text in told if text not in shown]) == (0, []), shown
    document = json.loads(goalwright("recipes", "show", "guide", "--json", cwd=workspace).out)
    assert document["goal"] == "Write a short guide to {city} for the {club}"


def test_a_recipe_is_offered_and_used_only_if_the_person_agrees(
    workspace: Path, serve: Serve, nursery: Nursery, goalwright: Goalwright
) -> None:
    server = serve(scripted(PLAN))
    assert goalwright("run", "-q", GOAL, cwd=workspace, env=MODEL).status == 0
    assert goalwright(*SAVE, cwd=workspace).status == 0
    goal = GOAL.replace("Lisbon", "Porto")
    status, shown = typed(nursery, workspace, ["run", goal], [(b"Use its plan", "n\n")])
    assert (status, len(server.asked("decomposer"))) == (0, 2), shown
    status, shown = typed(nursery, workspace, ["run", goal], [(b"Use its plan", "y\n")])
    assert (status, len(server.asked("decomposer"))) == (0, 2), shown
    assert "This goal is like the recipe 'guide'" in shown
    assert "Write a guide to Porto" in server.asked("task")[-1].user
    trace = json.loads(goalwright("trace", "show", "last", "--json", cwd=workspace).out)
    assert (trace["recipe"], trace["recipe_use"]["way"]) == ("guide", "offer")
    status, shown = typed(nursery, workspace, ["run", "-c", "recipes=off", goal], [])
    assert ("like the recipe" in shown, len(server.asked("decomposer"))) == (False, 3), shown
