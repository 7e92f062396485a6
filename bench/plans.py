"""Damaged plans: how many are read exactly, refused, or silently changed.

Floor: none is changed, and none is refused. A reader that changes a plan without a word is the worst: the figure that
counts is `changed`, which must be 0.

Peer: json-repair, a repairer of JSON, not of plans; what it makes of an answer is then validated as goalwright's own.

    python -m bench.plans [PLANS]          made-up plans, 200 by default, each damaged in every way
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import yaml

from bench.harness import command
from bench.harness.peers import MissingPeer
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells
from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.validate import Known, problems
from goalwright_planner.reading.plan_answer import read_answer
from goalwright_planner.reading.shape import SHAPES

if TYPE_CHECKING:
    from bench.harness.peers import Environments

PLANS = 200
OUTCOMES = ("exact", "refused", "changed")
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


Reader = Callable[[str], Any]


def outcome(document: dict[str, Any], text: str, read: Reader) -> str:
    """Whether a reading is the plan, another one, or none."""
    try:
        found = read(text)
    except NotJson:
        return "refused"
    if found is None:
        return "refused"
    return "exact" if Plan.from_dict(found) == Plan.from_dict(document) else "changed"


def ours(text: str) -> Any:
    """The plan that goalwright reads."""
    reading = read_answer(text, SHAPES["full"], KNOWN)
    return None if reading.faults else reading.document


def unwrapped(document: Any) -> Any:
    """A document, or the plan in a bare list of tasks or inside a single outer key, as any caller would look for it."""
    if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
        return {"tasks": document}
    if isinstance(document, dict) and len(document) == 1 and "tasks" not in document:
        (inner,) = document.values()
        return inner if isinstance(inner, dict) and "tasks" in inner else document
    return document


def repaired(peers: Environments, texts: list[str]) -> Reader:
    """Reads what json-repair made of the texts, if it is a valid plan; raises MissingPeer."""
    reported = peers.report("json-repair", "on_json_repair", texts, 120)
    if reported.fault:
        raise MissingPeer(reported.fault)
    documents = dict(zip(texts, (line["document"] for line in reported.lines), strict=True))

    def read(text: str) -> Any:
        document = unwrapped(documents[text])
        return None if problems(document, KNOWN) else document

    return read


def run(options: Options, count: int = PLANS) -> Findings:
    """Damage every plan in every way, and have each reader read it."""
    dice = random.Random(7)
    plans = [plan(dice) for _ in range(10 if options.quick else count)]
    texts = {kind: [damage(one) for one in plans] for kind, damage in KINDS.items()}
    readers: dict[str, Reader] = {"goalwright": ours}
    missing = ""
    if options.peers is not None:
        try:
            readers["json-repair"] = repaired(options.peers, [text for some in texts.values() for text in some])
        except MissingPeer as reason:
            missing = str(reason)
    found = {
        name: {kind: Counter(map(outcome, plans, some, [read] * len(plans))) for kind, some in texts.items()}
        for name, read in readers.items()
    }
    totals = {name: _total(kinds) for name, kinds in found.items()}
    rows = {name: cells(*(total[one] for one in OUTCOMES)) for name, total in totals.items()}
    if missing:
        rows["json-repair"] = cells(*[missing] * len(OUTCOMES))
    shown = {kind: cells(*(_counts(found[name][kind]) for name in readers)) for kind in KINDS}
    tables = (
        Table(f"{sum(totals['goalwright'].values()):,} damaged plans", tuple(map(Column, OUTCOMES)), rows),
        Table("Exact, refused and changed, by kind", tuple(map(Column, readers)), shown, is_plotted=False),
    )
    return Findings(
        tables, (Aim("plans that goalwright changed silently", totals["goalwright"]["changed"], 0, is_count=True),)
    )


def _total(kinds: dict[str, Counter[str]]) -> Counter[str]:
    return sum(kinds.values(), Counter())


def _counts(found: Counter[str]) -> str:
    return " / ".join(str(found[one]) for one in OUTCOMES)


BENCHMARK = Benchmark(
    "plans",
    "Damaged plans: how many are read exactly, refused, or silently changed.",
    "All exact, none changed.",
    ("json-repair",),
    run,
)


def main() -> int:
    """As `python -m bench.plans [PLANS]`."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    return command.single(BENCHMARK, partial(run, count=int(words[0]) if words else PLANS))


if __name__ == "__main__":
    sys.exit(main())
