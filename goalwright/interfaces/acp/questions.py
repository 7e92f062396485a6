"""Questions of a run: which of them the next prompt answers, and which ask to open a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.approvals import ApprovalRequest


def page_of(request: ApprovalRequest) -> str | None:
    """The address of the page that a question asks to open."""
    return (request.arguments or {}).get("url") if request.kind == "question" else None


def is_for_prompt(request: ApprovalRequest) -> bool:
    """Whether the next prompt answers it: a question, or a form."""
    return request.kind == "question" and page_of(request) is None
