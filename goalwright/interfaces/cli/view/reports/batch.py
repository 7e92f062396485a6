"""Prints the report and the preview of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted, dollars, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.batch.goals import BatchGoal

_MAX_GOALS = 10
_WIDTH = 80

_OUTCOMES = {
    "done": "done",
    "partial": "partial",
    "failed": "failed",
    "waiting": "waiting for an answer",
    "out_of_time": "out of time",
    "over_budget": "over budget",
    "skipped": "from before",
    "left": "left",
}


def print_summary(document: dict[str, Any]) -> None:
    """Print the report of `--json` as text."""
    counts = [f"{document[name]:,} {label}" for name, label in _OUTCOMES.items() if document[name] or name == "done"]
    output.print_text(f"{counted(document['goals'], 'goal')}: {', '.join(counts)}")
    usage, times = document["usage"], document["seconds"]
    output.print_text(
        f"{counted(usage['calls'], 'call')}, {_mark(document)}"
        f"{counted(usage['prompt_tokens'] + usage['completion_tokens'], 'token')}, cost {_cost(document)}; "
        f"p50 {times['p50'] or 0:g} s, p95 {times['p95'] or 0:g} s per goal"
    )
    if document["recipes"]:
        output.print_text(f"{counted(document['recipes'], 'goal')} used a recipe.")
    for failure in document["errors"]:
        output.print_text(f"{failure['goals']:>7}  failed with: {' '.join(failure['error'].split())[:300]}")
    _print_skills({skill["name"]: skill["goals"] for skill in document["skills"]})


@dataclass(slots=True)
class PreviewedGoals:
    """The goals of a preview: the first ones without a skill or, if `verbose`, all of them immediately."""

    verbose: bool = False
    without_skill: list[str] = field(default_factory=list)

    def note(self, goal: BatchGoal, skills: Sequence[str]) -> None:
        """Print a goal with its skills, or keep it for later."""
        line = f"{goal.id}: {shorten(goal.text, _WIDTH)}"
        if self.verbose:
            output.print_text(f"{line} → {', '.join(skills) or 'no skill'}")
        elif not skills and len(self.without_skill) < _MAX_GOALS:
            self.without_skill.append(line)


def print_preview(document: dict[str, Any], shown: PreviewedGoals) -> None:
    """Print the preview of `--json` as text."""
    goals, calls = counted(document["goals"], "goal"), counted(document["calls"], "call")
    output.print_text(f"{goals}, {document['without_skill']} of them without a matching skill; at least {calls}.")
    if document.get("skipped"):
        output.print_text(f"{counted(document['skipped'], 'other goal')} skipped, with a result from before.")
    _print_skills(document["skills"])
    if shown.without_skill:
        output.print_text("Goals without a matching skill:")
        for line in shown.without_skill:
            output.print_text(f"  {line}")
        if remaining := document["without_skill"] - len(shown.without_skill):
            output.print_text(f"  and {remaining:,} more; -v shows all goals")


def _print_skills(goals: Mapping[str, int]) -> None:
    """Print the number of goals of each skill."""
    if goals:
        output.print_text("Goals by selected skill:")
    for name, times in goals.items():
        output.print_text(f"{times:>7}  {name}")


def _cost(document: dict[str, Any]) -> str:
    return "unknown" if document["cost_usd"] is None else f"{_mark(document)}{dollars(document['cost_usd'])}"


def _mark(document: dict[str, Any]) -> str:
    """Return the mark of an estimate."""
    return "≈" if document.get("usage", {}).get("estimated_calls") else ""
