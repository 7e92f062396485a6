"""The options of a batch: concurrency, rates, budgets, what to resume, and which goals to take."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set
    from pathlib import Path

    from goalwright.batch.goals import BatchGoal
    from goalwright.settings.resolve import Resolved
    from goalwright.settings.settings import Settings

# Goals are shuffled within a window of this size.
_WINDOW = 10_000
_POSITIVE = ("jobs", "max_calls", "rpm", "tpm", "limit", "max_cost", "max_tokens")


class OptionNeeded(InputError):
    """A batch is refused unless an option allows it; `option` names the field of BatchOptions or ClusterOptions."""

    def __init__(self, message: str, *, option: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.option = option


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Runs a batch's goals in Ray workers, on this machine or on the cluster at `address` (`auto` or HOST:PORT).

    There are as many `workers` as cores, each with up to `slots` goals at a time. When the batch is stopped, running
    goals have `drain` seconds to end. `allow_open` permits a cluster of several machines without authentication.
    """

    address: str | None = None
    workers: int | None = None
    slots: int = 32
    drain: float = 60.0
    allow_open: bool = False

    def __post_init__(self) -> None:
        values = {"workers": self.workers, "slots": self.slots}
        faults = [f"{name} must be above 0, not {value}" for name, value in values.items() if _is_not_positive(value)]
        if not self.drain >= 0:
            faults.append(f"drain must not be negative, not {self.drain}")
        if self.address is not None and not re.fullmatch(
            r"auto|[^\s/:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}", self.address
        ):
            faults.append(f"the address {self.address!r} is neither auto nor HOST:PORT")
        if faults:
            raise InputError(f"cluster options: {'; '.join(faults)}", hint="see goalwright.ClusterOptions")


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """The options of a batch; each is a flag of `goalwright batch`.

    A goal starts when a call slot would be idle otherwise, with at most `jobs` goals at a time if given.
    At most `limit` goals are taken; a resumed batch takes goals with an earlier run first.
    Goals that are not done are written to `errors`, if given. The batch stops when more than `max_failures` goals
    failed, or more than `max_failure_share` (0 to 1) of the goals that ended.
    With `approve_all`, every approval is given automatically. With `cluster`, the goals run in Ray workers.
    """

    jobs: int | None = None
    max_calls: int = 32
    rpm: float | None = None
    tpm: float | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    max_failures: float | None = None
    max_failure_share: float | None = None
    errors: Path | None = None
    resume: bool = False
    retry_errors: bool = False
    rerun_changed: bool = False
    limit: int | None = None
    shuffle: bool = False
    dedupe: bool = False
    approve_all: bool = False
    cluster: ClusterOptions | None = None

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in _POSITIVE}
        faults = [f"{name} must be above 0, not {value}" for name, value in values.items() if _is_not_positive(value)]
        if not self.resume and (self.retry_errors or self.rerun_changed):
            faults.append("retry_errors and rerun_changed need resume")
        if faults:
            raise InputError(
                f"batch options: {'; '.join(faults)}", hint="see goalwright.BatchOptions for the valid values"
            )


def _is_not_positive(value: float | None) -> bool:
    return value is not None and not value > 0


# Nobody waits at a terminal, so wait up to ten minutes for a provider that limits its rate.
RETRY_PATIENCE = 600.0


def batch_settings(resolved: Resolved) -> Settings:
    """Return the settings of a batch: unless set, it waits longer for busy providers and does not replan."""
    own = {"retry_patience": RETRY_PATIENCE, "max_replans": 0}
    return replace(resolved.settings, **{key: own[key] for key in own if key not in resolved.origins})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class GoalOrder:
    """Selects and orders the goals of a file; every iteration gives the same goals in the same order.

    When a batch is resumed with a limit, goals that have `begun` come before others.
    """

    limit: int | None = None
    shuffle: bool = False
    seed: float = field(default_factory=random.random)
    begun: Set[str] = frozenset()

    def goals(self, goals: Iterable[BatchGoal]) -> Iterator[BatchGoal]:
        """Return the selected goals."""
        ordered = _shuffled(goals, self.seed) if self.shuffle else iter(goals)
        if self.limit is None or not self.begun:
            return islice(ordered, self.limit)
        return self._begun_first(ordered, min(self.limit, sum(goal.id in self.begun for goal in goals)))

    def _begun_first(self, ordered: Iterator[BatchGoal], begun: int) -> Iterator[BatchGoal]:
        """Yield the first `begun` goals that have begun and fill the limit with others, in file order."""
        remaining = {True: begun, False: (self.limit or 0) - begun}
        while any(remaining.values()) and (goal := next(ordered, None)) is not None:
            if remaining[has_begun := goal.id in self.begun]:
                remaining[has_begun] -= 1
                yield goal

    def count(self, goals: int) -> int:
        """Return how many of `goals` goals are selected."""
        return min(goals, self.limit or goals)


def _shuffled(goals: Iterable[BatchGoal], seed: float) -> Iterator[BatchGoal]:
    """Shuffle goals within a window, so that they are never all in memory."""
    generator = random.Random(seed)  # noqa: S311 - not a secret
    window: list[BatchGoal] = []
    for goal in goals:
        window.append(goal)
        if len(window) >= _WINDOW:
            index = generator.randrange(len(window))
            window[index], window[-1] = window[-1], window[index]
            yield window.pop()
    generator.shuffle(window)
    yield from window
