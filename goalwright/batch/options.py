"""How a batch is run: concurrency, rates, budgets, what to resume, and which goals to take."""

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

# The goals that are shuffled among each other, so that they are never all in memory.
_WINDOW = 10_000
_POSITIVE = ("jobs", "max_calls", "rpm", "tpm", "limit", "max_cost", "max_tokens")


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Run a batch's goals in Ray workers: on this machine, or on the cluster at an address (`auto`, HOST:PORT).

    There are as many `workers` as cores, each with up to `slots` goals at a time. When the batch is stopped, running
    goals have `drain` seconds to end. `allow_open` permits a cluster of other machines without authentication.
    """

    address: str | None = None
    workers: int | None = None
    slots: int = 32
    drain: float = 60.0
    allow_open: bool = False

    def __post_init__(self) -> None:
        values = {"workers": self.workers, "slots": self.slots}
        faults = [f"{name} must be above 0, not {value}" for name, value in values.items() if _is_wrong(value)]
        if not self.drain >= 0:
            faults.append(f"drain must not be below 0, but is {self.drain}")
        if self.address is not None and not re.fullmatch(
            r"auto|[^\s/:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}", self.address
        ):
            faults.append(f"the address {self.address!r} is neither auto nor HOST:PORT")
        if faults:
            raise InputError(f"cluster options: {'; '.join(faults)}", hint="see goalwright.ClusterOptions")


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """The options of a batch; each is a flag of `goalwright batch`.

    Goals start as long as a call slot would be idle, at most `jobs` at a time if given.
    At most `limit` goals are taken; if the batch is resumed, those that have begun are among them, and come first.
    Goals that are not done go to `errors`, if given. The batch stops when more than `max_failures` goals failed, or
    more than `max_failure_share` (0 to 1) of those that ended.
    With `approve_all`, no call and no task waits for a person. With `cluster`, the goals run in Ray workers.
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
        faults = [f"{name} must be above 0, not {value}" for name, value in values.items() if _is_wrong(value)]
        if not self.resume and (self.retry_errors or self.rerun_changed):
            faults.append("retry_errors and rerun_changed need resume")
        if faults:
            raise InputError(
                f"batch options: {'; '.join(faults)}", hint="see goalwright.BatchOptions for what each one takes"
            )


def _is_wrong(value: float | None) -> bool:
    return value is not None and not value > 0


# Nobody waits at a terminal: a provider that asks for fewer calls gets ten minutes.
RETRY_PATIENCE = 600.0


def batch_settings(resolved: Resolved) -> Settings:
    """The settings of a batch: it waits longer for a busy provider and changes no plans, unless these are set."""
    own = {"retry_patience": RETRY_PATIENCE, "max_replans": 0}
    return replace(resolved.settings, **{key: own[key] for key in own if key not in resolved.origins})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class GoalOrder:
    """Which goals to take of a file; the goals and their order are the same each time they are iterated.

    If the batch is resumed with a limit, goals that have `begun` are taken before others.
    """

    limit: int | None = None
    shuffle: bool = False
    seed: float = field(default_factory=random.random)
    begun: Set[str] = frozenset()

    def goals(self, goals: Iterable[BatchGoal]) -> Iterator[BatchGoal]:
        """The goals that are taken."""
        ordered = _shuffled(goals, self.seed) if self.shuffle else iter(goals)
        if self.limit is None or not self.begun:
            return islice(ordered, self.limit)
        return self._begun_first(ordered, min(self.limit, sum(goal.id in self.begun for goal in goals)))

    def _begun_first(self, ordered: Iterator[BatchGoal], begun: int) -> Iterator[BatchGoal]:
        """The first `begun` goals that have begun, and as many others as the limit leaves, in their order."""
        left = {True: begun, False: (self.limit or 0) - begun}
        while any(left.values()) and (goal := next(ordered, None)) is not None:
            if left[has_begun := goal.id in self.begun]:
                left[has_begun] -= 1
                yield goal

    def count(self, goals: int) -> int:
        """How many are taken of this many goals."""
        return min(goals, self.limit or goals)


def _shuffled(goals: Iterable[BatchGoal], seed: float) -> Iterator[BatchGoal]:
    """The goals shuffled within a window, so that they are never all in memory."""
    dice = random.Random(seed)  # noqa: S311 - not a secret
    window: list[BatchGoal] = []
    for goal in goals:
        window.append(goal)
        if len(window) >= _WINDOW:
            place = dice.randrange(len(window))
            window[place], window[-1] = window[-1], window[place]
            yield window.pop()
    dice.shuffle(window)
    yield from window
