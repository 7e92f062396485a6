"""A task that goes on in tasks of its own: how many have yet to end, and how many may be under way at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_executor.results.outcome import Grown


@dataclass(slots=True)
class Growth:
    """The parts of one task, which waits for them outside the limit of tasks that run at a time."""

    parent: str
    grown: Grown
    left: int
    _under_way: set[str] = field(default_factory=set)
    _held: deque[str] = field(default_factory=deque)

    @classmethod
    def of(cls, parent: str, grown: Grown) -> Growth:
        """The parts that a task has grown into, none of them started."""
        return cls(parent, grown, len(grown.tasks))

    def may_start(self, part: str) -> bool:
        """Whether a part that is ready may start; if not, `end` of another gives it back."""
        if self.grown.width is not None and len(self._under_way) >= self.grown.width:
            self._held.append(part)
            return False
        self._under_way.add(part)
        return True

    def end(self, part: str) -> str | None:
        """Count a part that has ended, and return one that may start now."""
        self.left -= 1
        if part not in self._under_way:  # skipped before it started
            return None
        self._under_way.discard(part)
        if not self._held:
            return None
        following = self._held.popleft()
        self._under_way.add(following)
        return following
