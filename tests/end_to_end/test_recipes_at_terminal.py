"""`goalwright recipes save` on a real terminal: parameters are confirmed."""

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


def test_parameters_can_be_renamed_dropped_and_added(
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
    assert (status, "'poem' is neither" in shown) == (0, True), shown
    document = json.loads(goalwright("recipes", "show", "guide", "--json", cwd=workspace).out)
    assert document["goal"] == "Write a {length} guide to {city} for the sailing club"
    assert document["plan"]["tasks"][0]["instruction"] == "Write a guide to {city} for the sailing club."


def test_invalid_names_are_asked_for_again(
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
    told = ("'City' may contain only", "'Bad Name!' may contain only", "more than 64", "another parameter 'city'")
    assert (status, [text for text in told if text not in shown]) == (0, []), shown
    document = json.loads(goalwright("recipes", "show", "guide", "--json", cwd=workspace).out)
    assert document["goal"] == "Write a short guide to {city} for the {club}"
