"""What the running goals ask of the call slots, which decides whether another goal starts."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A goal without a call for this long is busy with something else, such as a tool, and needs no slot soon.
_SOON = 1.0
# One goal more for each so many slots, so that no slot waits for a goal's own work.
_SPARE = 8
# Goals at a time for each slot, however little they call: each takes memory.
_GOALS_PER_SLOT = 4


@dataclass(slots=True)
class Demand:
    """The goals that run, and the calls that they make or wait to make."""

    clock: Callable[[], float] = time.monotonic
    calls: int = 0
    _calls_of: Counter[str] = field(default_factory=Counter)
    _between_calls: OrderedDict[str, float] = field(default_factory=OrderedDict)
    _goals: set[str] = field(default_factory=set)

    @contextmanager
    def goal(self, name: str) -> Iterator[None]:
        """A goal runs while the block lasts."""
        self._goals.add(name)
        self._between_calls[name] = self.clock()
        try:
            yield
        finally:
            self._goals.discard(name)
            self._between_calls.pop(name, None)

    @contextmanager
    def call(self, goal: str) -> Iterator[None]:
        """A goal makes a call, or waits for its turn, while the block lasts."""
        self.calls += 1
        self._calls_of[goal] += 1
        self._between_calls.pop(goal, None)
        try:
            yield
        finally:
            self.calls -= 1
            self._calls_of[goal] -= 1
            if not self._calls_of[goal]:
                del self._calls_of[goal]
                if goal in self._goals:
                    self._between_calls[goal] = self.clock()

    def has_room(self, slots: int, running: int) -> bool:
        """Whether a slot would be idle soon without another goal; of those `running`, some may not have started yet."""
        now = self.clock()
        while self._between_calls and now - next(iter(self._between_calls.values())) > _SOON:
            self._between_calls.popitem(last=False)
        starting = running - len(self._goals)
        wanted = self.calls + len(self._between_calls) + starting
        return running < _GOALS_PER_SLOT * slots and wanted < slots + max(slots // _SPARE, 1)
