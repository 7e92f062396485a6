"""The counts of a batch; memory does not grow with the number of goals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright_planner.model import Usage

if TYPE_CHECKING:
    from goalwright_executor.history.result import Result

_STEP = 1.1
_MOST_SKILLS = 10
_MOST_ERRORS = 5
_KINDS_OF_ERROR = 100
_OUTCOMES = ("done", "partial", "failed", "waiting", "out_of_time", "over_budget")


@dataclass(slots=True)
class Times:
    """A histogram of durations, exact to about five percent."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, seconds: float) -> None:
        """Count a duration."""
        bucket = 0
        edge = 0.001
        while edge < seconds:
            edge *= _STEP
            bucket += 1
        self.counts[bucket] += 1

    def percentile(self, share: float) -> float | None:
        """Return the duration that this share of all durations stays below; None if there are none."""
        total = sum(self.counts.values())
        seen = 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            if seen >= share * total:
                return float(f"{0.001 * _STEP**bucket:.3g}")
        return None


@dataclass(slots=True)
class BatchSummary:
    """The counts of a batch."""

    goals: int
    statuses: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    times: Times = field(default_factory=Times)
    skills: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    recipes: int = 0
    skipped: int = 0
    skipped_not_done: int = 0
    skipped_waiting: int = 0

    def add(self, result: Result) -> None:
        """Count a goal that ended."""
        self.statuses[_outcome(result)] += 1
        self.add_spent(result)
        self.times.add(result.seconds)
        self.skills.update(result.skills)
        self.recipes += result.recipe is not None
        if result.error and (result.error in self.errors or len(self.errors) < _KINDS_OF_ERROR):
            self.errors[result.error] += 1

    def add_spent(self, result: Result) -> None:
        """Add what a goal has spent, whether it ended or is left to be resumed."""
        self.usage += result.usage
        self.cost = None if self.cost is None or result.cost_usd is None else self.cost + result.cost_usd

    def skip(self, status: str) -> None:
        """Count a goal that has an earlier result."""
        self.skipped += 1
        self.skipped_not_done += status != "done"
        self.skipped_waiting += status == "waiting"

    @property
    def ended(self) -> int:
        """Goals that ended in this run."""
        return sum(self.statuses.values())

    @property
    def all_done(self) -> bool:
        """Whether every goal that ended, now or earlier, is done."""
        return not self.skipped_not_done and self.ended == self.statuses["done"]

    @property
    def only_waits(self) -> bool:
        """Whether all ended goals, now or earlier, are done or wait for a person, and at least one waits."""
        waiting = self.statuses["waiting"] + self.skipped_waiting
        ended_well = self.ended == self.statuses["done"] + self.statuses["waiting"]
        return bool(waiting) and ended_well and self.skipped_not_done == self.skipped_waiting

    @property
    def failures(self) -> int:
        """Goals that failed in this run."""
        return self.statuses["failed"]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as `--json` prints it."""
        return {
            "goals": self.goals,
            "skipped": self.skipped,
            "skipped_not_done": self.skipped_not_done,
            **{outcome: self.statuses[outcome] for outcome in _OUTCOMES},
            "left": self.goals - self.skipped - self.ended,
            "usage": msgspec.structs.asdict(self.usage),
            "cost_usd": self.cost,
            "seconds": {"p50": self.times.percentile(0.5), "p95": self.times.percentile(0.95)},
            "recipes": self.recipes,
            "skills": [{"name": name, "goals": count} for name, count in self.skills.most_common(_MOST_SKILLS)],
            "errors": [{"error": text, "goals": count} for text, count in self.errors.most_common(_MOST_ERRORS)],
        }


def _outcome(result: Result) -> str:
    """Return the status of a goal; a stopped one has the limit that stopped it."""
    if result.status != "stopped":
        return result.status
    return "out_of_time" if result.code == "TIMEOUT" else "over_budget"
