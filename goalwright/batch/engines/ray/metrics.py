"""The metrics of a batch: goals by state, calls, 429s, tokens, cost, commits and lost leases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.events import CallBroken, CallFinished

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.batch.engines.ray.messages import WorkerReport
    from goalwright_planner.model import Usage

# Each with its description and the names of its labels.
COUNTERS = {
    "goalwright_goals": ("goals that ended, by their state", ("state",)),
    "goalwright_calls": ("model calls that were answered", ("model",)),
    "goalwright_calls_refused": ("model calls that the provider refused with 429", ()),
    "goalwright_tokens": ("tokens of prompts and answers", ("model",)),
    "goalwright_cost_usd": ("cost in dollars, where the price is known", ("model",)),
    "goalwright_leases_lost": ("runs that a worker lost to another one", ()),
}
GAUGES = {"goalwright_commit_seconds": ("seconds that the last commit to the journal took", ("worker",))}


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """Counts events; `record` adds to a counter or sets a gauge."""

    record: Callable[[str, float, dict[str, str]], None] = lambda _, __, ___: None

    def report(self, worker: int, report: WorkerReport) -> None:
        """Count a worker's report."""
        for event in report.events:
            match event:
                case CallFinished(reply=reply):
                    self._spend(event.model, reply.usage, reply.cost)
                case CallBroken():
                    self._spend(event.model, event.usage, event.cost)
                case _:
                    pass
        if report.refused:
            self.record("goalwright_calls_refused", report.refused, {})
        self.record("goalwright_commit_seconds", report.commit_seconds, {"worker": str(worker)})

    def _spend(self, model: str, usage: Usage, cost: float | None) -> None:
        self.record("goalwright_calls", 1, {"model": model})
        self.record("goalwright_tokens", usage.tokens, {"model": model})
        self.record("goalwright_cost_usd", cost or 0.0, {"model": model})

    def goal_ended(self, state: str) -> None:
        """Count a goal that ended."""
        self.record("goalwright_goals", 1, {"state": state})

    def lease_lost(self) -> None:
        """Count a run that a worker lost to another one."""
        self.record("goalwright_leases_lost", 1, {})
