"""Requests for approval, their answers, and the start of calls that must not be repeated without asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goalwright_planner.approvals import ApprovalRequest, Decision
from goalwright_planner.events.event import Event

IMPORTED = "imported:"
WITHDRAWN = "plan"


class ApprovalAsked(ApprovalRequest, Event, frozen=True):
    """A person was asked; the event is the request itself."""


class ApprovalGiven(Event, frozen=True):
    """The request `call` was answered `by` cli, page or callback, or decided by rule N of the policy (`policy:N`).

    In an imported record, `by` has the prefix `imported:`; such an answer allows no further call. A denial by `plan`
    withdraws a request, because the task was changed or dropped.
    """

    call: str
    decision: Decision
    note: str = ""
    arguments: Mapping[str, Any] | None = None
    by: str = ""
    text: str = ""
    task: str | None = None
    tool: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the answer still counts: an imported record, which anybody may have written, allows nothing."""
        return not self.withdrawn and (not self.by.startswith(IMPORTED) or self.decision in ("deny", "answer"))

    @property
    def withdrawn(self) -> bool:
        """Whether nobody answered, because the request is no longer asked."""
        return self.by.removeprefix(IMPORTED) == WITHDRAWN


class ToolStarted(Event, frozen=True):
    """A call that must not be repeated without asking starts; it ended if a `ToolCalled` has the same `call`."""

    task: str | None
    name: str
    call: str
