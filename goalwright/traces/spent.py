"""What calls took, in words: an estimate is marked as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import counted, dollars

if TYPE_CHECKING:
    from goalwright_planner.model import Usage


def spent(usage: Usage, cost: float | None) -> tuple[str, str, str]:
    """Calls, tokens and cost; "≈" says that the usage of a call is an estimate."""
    mark = "≈" if usage.estimated_calls else ""
    shown = "cost unknown" if cost is None else f"{mark}{dollars(cost)}"
    return counted(usage.calls, "call"), f"{mark}{counted(usage.tokens, 'token')}", shown


def call_tokens(usage: Usage) -> str:
    """The tokens of one call."""
    mark = "≈" if usage.estimated_calls else ""
    return f"{mark}{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
