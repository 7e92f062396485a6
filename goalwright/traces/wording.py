"""Events and usage in one line of text: plan changes, conditions, checks, shortened skills, calls and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import counted, dollars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_planner.events import ConditionChecked, PlanChanged, ResultChecked, SkillShortened
    from goalwright_planner.model import Usage


def change_text(event: PlanChanged) -> str:
    """Describe a plan change: its task, the added, dropped and rewired tasks, and the reason."""
    reason = f" ({event.note})" if event.note else ""
    if event.cause == "repeat":
        return f"{event.of}: repeated as {', '.join(task.id for task in event.added)}{reason}"
    if event.cause == "stream" and event.added:
        return f"plan, while it is written: {', '.join(task.id for task in event.added)}{reason}"
    return f"{event.of or 'plan'}: {', '.join(_parts(event)) or 'unchanged'}{reason}"


def condition_text(event: ConditionChecked) -> str:
    """Describe the condition of a task: whether it is needed, or whether this round is its last."""
    if event.round is None:
        return f"{event.task}: the condition {'holds' if event.holds else 'does not hold'}"
    return f"{event.task}: round {event.round}: the condition {'holds' if event.holds else 'does not hold yet'}"


def checked_text(event: ResultChecked) -> str:
    """Describe the check of a result: attempt, outcome and reason."""
    verdict = "holds" if event.holds else "does not hold"
    return f"check {event.attempt} {verdict}{f': {event.why}' if event.why else ''}"


def shortened_text(event: SkillShortened) -> str:
    """Describe which sections of a skill were left out for a small model."""
    left_out = f": {', '.join(event.left_out)}" if event.left_out else ""
    return f"{event.task}: skill {event.name} shortened for its model by {event.characters:,} characters{left_out}"


def _parts(event: PlanChanged) -> Iterator[str]:
    if event.added:
        yield f"{counted(len(event.added), 'task')} added"
    if event.dropped:
        yield f"dropped {', '.join(event.dropped)}"
    yield from (f"{old} → {new}" for old, new in event.rewired.items())
    if event.synthesis is not None:
        yield "synthesis changed"


def spent(usage: Usage, cost: float | None) -> tuple[str, str, str]:
    """Return calls, tokens and cost as texts; "≈" marks estimates."""
    mark = "≈" if usage.estimated_calls else ""
    cost_text = "cost unknown" if cost is None else f"{mark}{dollars(cost)}"
    return counted(usage.calls, "call"), f"{mark}{counted(usage.tokens, 'token')}", cost_text


def call_tokens(usage: Usage) -> str:
    """Return the tokens of one call as text."""
    mark = "≈" if usage.estimated_calls else ""
    return f"{mark}{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
