"""The requests and answers of a run, folded from its events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.events import ApprovalAsked, ApprovalGiven, PlanChanged, PlanMade, ToolCalled, ToolStarted
from goalwright_planner.events.approvals import WITHDRAWN
from goalwright_planner.plan.task_id import root_of

if TYPE_CHECKING:
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import Event
    from goalwright_planner.plan.plan import Plan


@dataclass(slots=True)
class ApprovalRecord:
    """The requests by id in the order of first asking, and their answers.

    A request that is asked again, because its call may have been made, has no answer until it gets a new one.
    `under_way` maps started calls without a result to their task and tool; a call that asks something is made again
    after the answer, so it no longer counts. `rest` maps tools whose further calls are allowed to the person who
    allowed them. `places` has the positions of tasks in the plan.
    """

    asked: dict[str, ApprovalRequest] = field(default_factory=dict)
    answers: dict[str, ApprovalGiven] = field(default_factory=dict)
    under_way: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    rest: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)

    def note(self, event: Event) -> None:
        """Apply an event."""
        match event:
            case ApprovalAsked():
                self.asked[event.id] = event
                self.answers.pop(event.id, None)
                self.under_way.pop(event.id, None)
                if event.kind in ("question", "login"):
                    asking = [call for call, who in self.under_way.items() if who == (event.task, event.tool)]
                    for call in asking:
                        self.under_way.pop(call)
            case ApprovalGiven():
                self.answers[event.call] = event
                if event.decision == "allow_rest" and event.tool and event.holds:
                    self.rest[event.tool] = event.by
            case ToolStarted():
                self.under_way[event.call] = event.task, event.name
            case ToolCalled():
                self.under_way.pop(event.call, None)
            case PlanMade():
                self.places = {task.id: position for position, task in enumerate(event.plan.tasks)}
            case PlanChanged():
                for task in event.added:
                    self.places.setdefault(task.id, len(self.places))
            case _:
                pass

    @property
    def waiting(self) -> tuple[ApprovalRequest, ...]:
        """The unanswered requests in the order of the plan, and within a task in the order of asking.

        Which of two parallel tasks asks first is random.
        """
        waiting = (request for request in self.asked.values() if request.id not in self.answers)
        return tuple(sorted(waiting, key=self._place))

    def _place(self, request: ApprovalRequest) -> tuple[int, int]:
        if request.task is None:
            return -1, -1
        last = len(self.places)
        return self.places.get(root_of(request.task), last), self.places.get(request.task, last)

    def withdrawals(self, plan: Plan, change: PlanChanged) -> tuple[ApprovalGiven, ...]:
        """Return the answers that close requests of tasks that a change of the plan drops or changes.

        They are recorded before the change: if the process dies in between, the task asks again.
        """
        after = change.applied(plan)
        return tuple(
            ApprovalGiven(
                request.id, "deny", "the plan was changed", by=WITHDRAWN, task=request.task, tool=request.tool
            )
            for request in self.waiting
            if (name := request.task) is not None
            and name in plan
            and (name not in after or after.task(name) != plan.task(name))
        )

    def copy(self) -> ApprovalRecord:
        """Return an independent copy."""
        return ApprovalRecord(
            dict(self.asked), dict(self.answers), dict(self.under_way), dict(self.rest), dict(self.places)
        )
