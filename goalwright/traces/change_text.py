"""A change of a plan, a condition, a check of a result, or what is left out of a skill, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_planner.events import ConditionChecked, PlanChanged, ResultChecked, SkillShortened


def change_text(event: PlanChanged) -> str:
    """Describe a change: whose it is, what was added, dropped and rewired, and why."""
    why = f" ({event.note})" if event.note else ""
    if event.cause == "repeat":
        return f"{event.of}: once more, as {', '.join(task.id for task in event.added)}{why}"
    if event.cause == "stream" and event.added:
        return f"plan, as it is written: {', '.join(task.id for task in event.added)}{why}"
    return f"{event.of or 'plan'}: {', '.join(_parts(event)) or 'not changed'}{why}"


def condition_text(event: ConditionChecked) -> str:
    """Say whether the condition of a task holds: that it is needed, or that a round of it is the last."""
    if event.round is None:
        return f"{event.task}: the condition {'holds' if event.holds else 'does not hold'}"
    return f"{event.task}: round {event.round}: what must hold {'holds' if event.holds else 'does not hold yet'}"


def checked_text(event: ResultChecked) -> str:
    """Describe the check of a result: which attempt, whether it holds, and why."""
    verdict = "holds" if event.holds else "does not hold"
    return f"check {event.attempt} {verdict}{f': {event.why}' if event.why else ''}"


def shortened_text(event: SkillShortened) -> str:
    """Describe what a small model does not get of a skill: which sections, and how much."""
    left_out = f": {', '.join(event.left_out)}" if event.left_out else ""
    return f"{event.task}: skill {event.name} shortened for its model by {event.characters:,} characters{left_out}"


def _parts(event: PlanChanged) -> Iterator[str]:
    if event.added:
        yield f"{counted(len(event.added), 'task')} added"
    if event.dropped:
        yield f"dropped {', '.join(event.dropped)}"
    yield from (f"{old} → {new}" for old, new in event.rewired.items())
    if event.synthesis is not None:
        yield "another synthesis"
