"""The metrics of a batch: goals by state, calls, refusals, tokens, cost, commits, lost leases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft_planner.events import CallBroken, CallFinished

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.batch.engines.ray.messages import WorkerReport
    from weft_planner.model import Usage

# Each with what it means, and what tells its values apart.
COUNTERS = {
    "weft_goals": ("goals that ended, by their state", ("state",)),
    "weft_calls": ("model calls that were answered", ("model",)),
    "weft_calls_refused": ("model calls that the provider refused with 429", ()),
    "weft_tokens": ("tokens of prompts and answers", ("model",)),
    "weft_cost_usd": ("cost in dollars, where the price is known", ("model",)),
    "weft_leases_lost": ("runs that a worker lost to another one", ()),
}
GAUGES = {"weft_commit_seconds": ("seconds that the last commit to the journal took", ("worker",))}


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """Counts what happens; `record` adds to a counter, or sets a gauge."""

    record: Callable[[str, float, dict[str, str]], None] = lambda _, __, ___: None

    def report(self, worker: int, report: WorkerReport) -> None:
        """A worker reported."""
        for event in report.events:
            match event:
                case CallFinished(reply=reply):
                    self._spend(event.model, reply.usage, reply.cost)
                case CallBroken():
                    self._spend(event.model, event.usage, event.cost)
                case _:
                    pass
        if report.refused:
            self.record("weft_calls_refused", report.refused, {})
        self.record("weft_commit_seconds", report.commit_seconds, {"worker": str(worker)})

    def _spend(self, model: str, usage: Usage, cost: float | None) -> None:
        self.record("weft_calls", 1, {"model": model})
        self.record("weft_tokens", usage.tokens, {"model": model})
        self.record("weft_cost_usd", cost or 0.0, {"model": model})

    def goal_ended(self, state: str) -> None:
        """A goal ended."""
        self.record("weft_goals", 1, {"state": state})

    def lease_lost(self) -> None:
        """A worker lost a run to another one."""
        self.record("weft_leases_lost", 1, {})
