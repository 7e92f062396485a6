"""Prints an evaluation of skills: its measures, its misses, and which descriptions to change."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.view import output, width
from goalwright_skills.text.formatting import counted, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright_skills.evaluation.evaluate import Evaluation, Outcome
    from goalwright_skills.evaluation.explain import Explainer

_MOST_MISSES = 20
_MOST_SKILLS = 10
_MOST_WORDS = 6
_GOAL = 200
_NAMES = {
    "r_at_1": "first place",
    "r_at_5": "R@5",
    "r_at_30": "R@30",
    "nothing_selected": "nothing selected",
    "set_recall": "set recall",
    "picked_for_none": "picked for none",
}
# Figures for which lower is better.
_AT_MOST = ("nothing_selected", "picked_for_none")
_ALL = "all goals"
_SET = 30
_NUMBER = 5


def document(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as `--json` prints it."""
    return {
        **evaluation.figures.to_dict(),
        "sets": {name: figures.to_dict() for name, figures in evaluation.sets.items()},
        "misses": [
            {
                "id": miss.outcome.goal.id,
                "goal": miss.outcome.goal.goal,
                "expected": list(miss.outcome.expected),
                "selected": [selection.name for selection in miss.outcome.selected],
                "why": miss.why,
            }
            for miss in evaluation.misses
        ],
    }


def print_evaluation(evaluation: Evaluation, explainer: Explainer, *, every: bool) -> None:
    """Print the measures by set, then the misses, at most a few unless `every`."""
    goals, missed = evaluation.figures.goals, len(evaluation.misses)
    output.print_text("\n".join(table(evaluation)))
    output.print_text(f"\n{counted(missed, 'miss', 'misses')} of {counted(goals, 'goal')}")
    shown = evaluation.misses if every else evaluation.misses[:_MOST_MISSES]
    for miss in shown:
        outcome = miss.outcome
        selected = ", ".join(picked.name for picked in outcome.selected) or "none"
        output.print_text(f"\n{outcome.goal.id}  {shorten(outcome.goal.goal, _GOAL)}")
        output.print_text(f"  expected {', '.join(outcome.expected) or 'none'}; selected {selected}\n  {miss.why}")
    if len(shown) < len(evaluation.misses):
        output.print_text(f"\n… and {len(evaluation.misses) - len(shown):,} more; -v shows all")
    lines = list(changes([miss.outcome for miss in evaluation.misses], explainer))
    if len(evaluation.misses) > 1 and lines:
        output.print_text("\n".join(["", "What to change first:", *lines]))


def table(evaluation: Evaluation) -> Iterator[str]:
    """Yield the table of measures: a line for each set and one for all goals."""
    rows = [*((shorten(name, _SET), figures) for name, figures in evaluation.sets.items()), (_ALL, evaluation.figures)]
    name_width = max(width.columns(name) for name, _ in rows)
    head = [title.rjust(_NUMBER) for title in ("goals", *_NAMES.values())]
    yield "  ".join((" " * name_width, *head))
    for name, figures in rows:
        cells = (f"{figures.goals:,}", *(_figure(getattr(figures, key), "–") for key in _NAMES))
        yield "  ".join(
            (width.pad(name, name_width), *(cell.rjust(len(title)) for cell, title in zip(cells, head, strict=True)))
        )


def changes(misses: Sequence[Outcome], explainer: Explainer) -> Iterator[str]:
    """Yield a line for each skill with most misses: its winners, and the words its description lacks."""
    by_skill: dict[str, list[Outcome]] = defaultdict(list)
    for miss in misses:
        for name in miss.missing or miss.expected[:1]:
            if not explainer.unknown(name):
                by_skill[name].append(miss)
    for name, missed in sorted(by_skill.items(), key=lambda item: (-len(item[1]), item[0]))[:_MOST_SKILLS]:
        winners = Counter(
            outcome.ranked[0].name
            for outcome in missed
            if outcome.ranked and outcome.ranked[0].name not in outcome.expected
        )
        words = (word for outcome in missed for word in explainer.words.shared(outcome.goal.goal, name).lacking)
        lacking = Counter(word for word in words if not word.isdecimal())
        line = f"  {name}: missed by {counted(len(missed), 'goal')}"
        line += f"; first instead: {_counts(winners, 3)}" if winners else ""
        yield line + (f"; its description lacks: {_counts(lacking, _MOST_WORDS)}" if lacking else "")


def below(evaluation: Evaluation, bounds: Mapping[str, float]) -> Iterator[str]:
    """Yield the measures that are worse than their bound; an unmeasured one counts as worse."""
    for name, bound in bounds.items():
        value, most = getattr(evaluation.figures, name), name in _AT_MOST
        if value is None or (value > bound if most else value < bound):
            yield f"{_NAMES[name]} is {_figure(value)}, {'above' if most else 'below'} {_figure(bound)}"


def _figure(value: float | None, nothing: str = "not measured") -> str:
    return nothing if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _counts(counter: Counter[str], most: int) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counter.most_common(most))
