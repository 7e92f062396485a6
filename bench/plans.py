"""Damaged plans: how many are read exactly, refused, or silently changed, beside json-repair.

    python -m bench.plans [PLANS]          1,500 made-up plans by default, each damaged in every way

A reader that changes a plan without a word is the worst: the figure that counts is `changed`, which must be 0. The peer
is measured where it is installed (`pip install json-repair`); it is a repairer of JSON, not of plans.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import yaml

from planner.plan.json_answer import NotJson
from planner.plan.plan import Plan
from planner.plan.reading import read_answer
from planner.plan.shape import SHAPES
from planner.plan.validate import Known, problems

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN = Known(["writing", "review", "research"])
TEXT = "write the report's summary, check 3 facts and list them: names/dates (it's due) None true"
WORDS = (*TEXT.split(), '"so"')


def plan(dice: random.Random) -> dict[str, Any]:
    """A plan of two to eight tasks."""
    ids = [f"t{number}" for number in range(dice.randint(2, 8))]
    rows = []
    for number, name in enumerate(ids):
        text = " ".join(dice.choices(WORDS, k=dice.randint(4, 25)))
        before = dice.sample(ids[:number], dice.randint(0, min(number, 3)))
        kind = dice.choice(["llm", "skill"])
        rows.append(
            {"id": name, "title": name, "action_type": kind}
            | ({"name": dice.choice(KNOWN.skills)} if kind == "skill" else {})
            | {"instruction": text, "depends_on": before}
        )
    return {"tasks": rows, "synthesis": dice.choice([None, "Put it together."]), "clarification": None}


def renamed(old: str, new: str) -> Callable[[dict[str, Any]], str]:
    """Damage: a key of every task has another name."""

    def damage(document: dict[str, Any]) -> str:
        rows = [{(new if key == old else key): value for key, value in row.items()} for row in document["tasks"]]
        return json.dumps(document | {"tasks": rows})

    return damage


def bare(document: Any) -> str:
    """Damage: keys without quotes."""
    if isinstance(document, dict):
        return "{" + ", ".join(f"{key}: {bare(value)}" for key, value in document.items()) + "}"
    if isinstance(document, list):
        return "[" + ", ".join(map(bare, document)) + "]"
    return json.dumps(document)


KINDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "as it is": json.dumps,
    "python literal": repr,
    "bare keys": bare,
    "yaml": lambda document: yaml.safe_dump(document, sort_keys=False),
    "None for null": lambda document: json.dumps(document).replace("null", "None"),
    "dependencies": renamed("depends_on", "dependencies"),
    "deps": renamed("depends_on", "deps"),
    "after": renamed("depends_on", "after"),
    "waits_for": renamed("depends_on", "waits_for"),
    "description": renamed("instruction", "description"),
    "action": renamed("action_type", "action"),
    "task_id": renamed("id", "task_id"),
    "tool call": lambda document: json.dumps({"name": "plan", "arguments": json.dumps(document)}),
    "steps": lambda document: json.dumps(document).replace('"tasks"', '"steps"', 1),
    "inner quotes": lambda document: json.dumps(document).replace('\\"', '"'),
    "two brackets lost": lambda document: json.dumps({"synthesis": None, "tasks": document["tasks"]})[:-2],
    "cut in half": lambda document: json.dumps(document)[: len(json.dumps(document)) // 2],
}


def outcome(document: dict[str, Any], text: str, read: Callable[[str], Any]) -> str:
    """Whether a reading is the plan, another one, or none."""
    try:
        found = read(text)
    except NotJson:
        return "refused"
    if found is None:
        return "refused"
    return "exact" if Plan.from_dict(found) == Plan.from_dict(document) else "changed"


def ours(text: str, version: int) -> Any:
    """The plan that weft reads, by the rules of a version."""
    reading = read_answer(text, SHAPES["full"], KNOWN, version)
    return None if reading.faults else reading.document


def peers(text: str) -> Any:
    """The plan that json-repair makes of it, if it is a valid one."""
    import json_repair

    document = SHAPES["full"].widen(json_repair.loads(text))
    return None if problems(document, KNOWN) else document


def main() -> None:
    """Print a row for each kind of damage."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500
    dice = random.Random(7)
    plans = [plan(dice) for _ in range(count)]
    readers: dict[str, Callable[[str], Any]] = {
        "weft": partial(ours, version=2),
        "first rules": partial(ours, version=1),
    }
    try:
        import json_repair  # noqa: F401
    except ImportError:
        print("json-repair is not installed: it is left out")
    else:
        readers["json-repair"] = peers
    print(f"{count} plans; exact / refused / changed")
    print(f"{'':<20}" + "".join(f"{name:>24}" for name in readers))
    lost = 0
    for kind, damage in KINDS.items():
        cells = []
        for name, read in readers.items():
            counts = Counter(outcome(one, damage(one), read) for one in plans)
            cells.append(f"{counts['exact']:>7} /{counts['refused']:>6} /{counts['changed']:>6} ")
            lost += counts["changed"] if name == "weft" else 0
        print(f"{kind:<20}" + "".join(f"{cell:>24}" for cell in cells))
    if lost:
        sys.exit(f"{lost} plans were changed silently")


if __name__ == "__main__":
    main()
