"""Counts the subtasks of one task: how many have not ended, and how many may run at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_executor.results.outcome import Grown


@dataclass(slots=True)
class Growth:
    """The subtasks of one task, which waits for them without taking a slot."""

    parent: str
    grown: Grown
    left: int
    _under_way: set[str] = field(default_factory=set)
    _held: deque[str] = field(default_factory=deque)

    @classmethod
    def of(cls, parent: str, grown: Grown) -> Growth:
        """Return the subtasks of a task, with none started."""
        return cls(parent, grown, len(grown.tasks))

    def may_start(self, part: str) -> bool:
        """Whether a ready subtask may start; if not, `end` of another returns it later."""
        if self.grown.width is not None and len(self._under_way) >= self.grown.width:
            self._held.append(part)
            return False
        self._under_way.add(part)
        return True

    def end(self, part: str) -> str | None:
        """Count a subtask that has ended, and return one that may start now."""
        self.left -= 1
        if part not in self._under_way:  # skipped before it started
            return None
        self._under_way.discard(part)
        if not self._held:
            return None
        following = self._held.popleft()
        self._under_way.add(following)
        return following
