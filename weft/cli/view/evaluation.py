"""An evaluation of skills as text: its measures, its misses, and which descriptions to change."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from weft.cli.view import output
from weft_skills.text.plural import counted
from weft_skills.text.shorten import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weft_skills.evaluation.evaluate import Evaluation, Outcome
    from weft_skills.evaluation.explain import Explainer

_MOST_MISSES = 20
_MOST_SKILLS = 10
_MOST_WORDS = 6
_GOAL = 200
_NAMES = {"r_at_1": "R@1", "r_at_5": "R@5", "set_recall": "set recall", "picked_for_none": "picked for none"}


def document(found: Evaluation) -> dict[str, Any]:
    """An evaluation as `--json` prints it."""
    return {
        "goals": found.goals,
        **{name: getattr(found, name) for name in _NAMES},
        "misses": [
            {
                "id": miss.outcome.goal.id,
                "goal": miss.outcome.goal.goal,
                "expected": list(miss.outcome.expected),
                "selected": [selection.name for selection in miss.outcome.selected],
                "why": miss.why,
            }
            for miss in found.misses
        ],
    }


def print_evaluation(found: Evaluation, explainer: Explainer, *, every: bool) -> None:
    """Print the measures, then misses, at most a few unless `every` is asked for."""
    measures = ", ".join(f"{title} {_figure(getattr(found, name))}" for name, title in _NAMES.items())
    output.print_text(f"{counted(found.goals, 'goal')}: {measures}; {counted(len(found.misses), 'miss', 'misses')}")
    shown = found.misses if every else found.misses[:_MOST_MISSES]
    for miss in shown:
        outcome = miss.outcome
        selected = ", ".join(picked.name for picked in outcome.selected) or "none"
        output.print_text(f"\n{outcome.goal.id}  {shorten(outcome.goal.goal, _GOAL)}")
        output.print_text(f"  expected {', '.join(outcome.expected) or 'none'}; selected {selected}\n  {miss.why}")
    if len(shown) < len(found.misses):
        output.print_text(f"\n… and {len(found.misses) - len(shown):,} more; -v shows all")
    lines = list(changes([miss.outcome for miss in found.misses], explainer))
    if len(found.misses) > 1 and lines:
        output.print_text("\n".join(["", "What to change first:", *lines]))


def changes(misses: Sequence[Outcome], explainer: Explainer) -> Iterator[str]:
    """A line for each skill that misses most goals: who came first instead, and which words its description lacks."""
    by_skill: dict[str, list[Outcome]] = defaultdict(list)
    for miss in misses:
        for name in miss.missing or miss.expected[:1]:
            if not explainer.unknown(name):
                by_skill[name].append(miss)
    for name, missed in sorted(by_skill.items(), key=lambda item: (-len(item[1]), item[0]))[:_MOST_SKILLS]:
        winners = Counter(
            outcome.ranked[0].name for outcome in missed if outcome.ranked and outcome.ranked[0].name != name
        )
        words = (word for outcome in missed for word in explainer.words.shared(outcome.goal.goal, name).lacking)
        lacking = Counter(word for word in words if not word.isdecimal())
        told = f"  {name}: missed by {counted(len(missed), 'goal')}"
        told += f"; first instead: {_counts(winners, 3)}" if winners else ""
        yield told + (f"; its description lacks: {_counts(lacking, _MOST_WORDS)}" if lacking else "")


def below(found: Evaluation, bounds: Mapping[str, float]) -> Iterator[str]:
    """What is worse than its bound; a measure that no goal has counts as worse."""
    for name, bound in bounds.items():
        value, most = getattr(found, name), name == "picked_for_none"
        if value is None or (value > bound if most else value < bound):
            yield f"{_NAMES[name]} is {_figure(value)}, {'above' if most else 'below'} {_figure(bound)}"


def _figure(value: float | None) -> str:
    return "not measured" if value is None else f"{value:g}" if isinstance(value, int) else f"{value:.3f}"


def _counts(found: Counter[str], most: int) -> str:
    return ", ".join(f"{name} ({count})" for name, count in found.most_common(most))
