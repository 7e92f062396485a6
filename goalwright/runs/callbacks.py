"""The functions that a caller gives a run: for its events, its approvals and its plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.events import Event, PlanChanged, PlanMade, type_of

if TYPE_CHECKING:
    from goalwright_executor.history.run_history import RunHistory
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record
    from goalwright_planner.plan.plan import Plan


# Receives a plan before it runs; returns the plan to run, or None to stop.
Review = Callable[["Plan"], Awaitable["Plan | None"]]


@dataclass(frozen=True, slots=True)
class Callbacks:
    """`record` receives the events of a run, `approve` answers its requests, `review` receives the plan first."""

    record: Record | None = None
    approve: Approve | None = None
    review: Review | None = None


@dataclass(slots=True)
class Observer:
    """Passes events to the caller's function; if that fails, the run continues and the caller is warned once."""

    receive: Record | None
    warn: Callable[[str], None]
    _failed: bool = False

    def notify(self, event: Event) -> None:
        """Pass on an event."""
        if self.receive is None:
            return
        try:
            returned: object = self.receive(event)
        except Exception as error:  # noqa: BLE001 - whatever the function raises, the run continues
            self._fail(
                f"raised {type(error).__name__}: {error} when it received {type_of(type(event))}; the run continues"
            )
            return
        if isinstance(returned, Coroutine):
            returned.close()
            self._fail("is an async function and receives no events; pass one that is not async")

    def show(self, history: RunHistory) -> None:
        """Pass on what a resumed run has done before."""
        if self.receive is None:
            return
        early, plan = history.ledger.early, history.plan
        if early:
            self.notify(PlanChanged("stream", None, tuple(early.values())))
        if plan is not None and (planned := history.plans.last) is not None:
            self.notify(PlanMade(plan, planned.attempts))
        for output in history.recorded_reuse:
            self.notify(output)
        for finished in history.tasks.values():
            if finished.status == "done" and (plan is not None or finished.task in early):
                self.notify(finished)

    def _fail(self, fault: str) -> None:
        if not self._failed:
            self._failed = True
            self.warn(f"`record` {fault}")
