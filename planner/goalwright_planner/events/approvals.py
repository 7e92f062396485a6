"""What a person is asked, what they answer, and which calls must not be repeated without asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goalwright_planner.approvals import ApprovalRequest, Decision
from goalwright_planner.events.event import Event

IMPORTED = "imported:"
WITHDRAWN = "plan"


class ApprovalAsked(ApprovalRequest, Event, frozen=True):
    """A person is asked: the request itself."""


class ApprovalGiven(Event, frozen=True):
    """A request, `call`, was answered `by` cli, page or callback, or decided by rule N of the policy (`policy:N`).

    An answer in a record that was imported is by `imported:` and who it was: it is history, and allows no further call.
    A denial by `plan` withdraws a request, because the plan was changed and the task is no longer in it as it was.
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
        """Whether it counts for what is not done yet: nothing is allowed by a record that may be a stranger's."""
        return not self.withdrawn and (not self.by.startswith(IMPORTED) or self.decision in ("deny", "answer"))

    @property
    def withdrawn(self) -> bool:
        """Whether nobody answered it: the request is no longer asked."""
        return self.by.removeprefix(IMPORTED) == WITHDRAWN


class ToolStarted(Event, frozen=True):
    """A call that may not be repeated unasked is about to start; it ended if a `ToolCalled` has the same `call`."""

    task: str | None
    name: str
    call: str
