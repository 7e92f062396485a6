"""How a batch went, and how one would go, as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.text.plural import counted
from weft.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Mapping

_OUTCOMES = {
    "done": "done",
    "partial": "partial",
    "failed": "failed",
    "clarification": "with a question",
    "out_of_time": "out of time",
    "over_budget": "over budget",
    "skipped": "from before",
    "left": "left",
}


def print_summary(document: dict[str, Any]) -> None:
    """The summary as `--json` has it, in words."""
    counts = [f"{document[name]:,} {said}" for name, said in _OUTCOMES.items() if document[name] or name == "done"]
    output.print_text(f"{counted(document['goals'], 'goal')}: {', '.join(counts)}")
    usage, times = document["usage"], document["seconds"]
    output.print_text(
        f"{counted(usage['calls'], 'call')}, "
        f"{counted(usage['prompt_tokens'] + usage['completion_tokens'], 'token')}, cost {_cost(document)}; "
        f"p50 {times['p50'] or 0:g} s, p95 {times['p95'] or 0:g} s a goal"
    )
    for fault in document["errors"]:
        output.print_text(f"{fault['goals']:>7}  went wrong: {' '.join(fault['error'].split())[:300]}")
    _print_skills({skill["name"]: skill["goals"] for skill in document["skills"]})
    for one in document.get("models", ()):
        output.print_text(
            f"{one['model']:<32} success {one['success']:.0%}  cost {_cost(one)}  p50 {one['seconds_p50']} s  "
            f"{one['tokens']} tokens  {one['tasks']} tasks  agreement {one['agreement']:.0%}"
        )


def print_preview(document: dict[str, Any]) -> None:
    """What a batch would begin with, in words."""
    goals, calls = counted(document["goals"], "goal"), counted(document["calls"], "call")
    output.print_text(f"{goals}, {document['without_skill']} of them without a skill that fits; at least {calls}.")
    _print_skills(document["skills"])


def _print_skills(goals: Mapping[str, int]) -> None:
    """In how many goals each skill was selected."""
    if goals:
        output.print_text("Skills by the goals that they were selected for:")
    for name, times in goals.items():
        output.print_text(f"{times:>7}  {name}")


def _cost(document: dict[str, Any]) -> str:
    return "unknown" if document["cost_usd"] is None else f"${document['cost_usd']:.4f}"
