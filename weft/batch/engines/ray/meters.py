"""What a batch counts for its metrics: goals by state, calls, refusals, tokens, cost, commits, lost leases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft_planner.events import CallFinished

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.batch.engines.ray.messages import WorkerReport

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
class Meters:
    """Puts what happens into a few named figures; `note` adds to a counter, or sets a gauge."""

    note: Callable[[str, float, dict[str, str]], None] = lambda _, __, ___: None

    def report(self, worker: int, report: WorkerReport) -> None:
        """A worker reported."""
        for event in report.events:
            if isinstance(event, CallFinished):
                model = {"model": event.model}
                self.note("weft_calls", 1, model)
                self.note("weft_tokens", event.reply.usage.tokens, model)
                self.note("weft_cost_usd", event.reply.cost or 0.0, model)
        if report.refused:
            self.note("weft_calls_refused", report.refused, {})
        self.note("weft_commit_seconds", report.commit_seconds, {"worker": str(worker)})

    def ended(self, state: str) -> None:
        """A goal ended."""
        self.note("weft_goals", 1, {"state": state})

    def lost_lease(self) -> None:
        """A worker lost a run to another one."""
        self.note("weft_leases_lost", 1, {})
