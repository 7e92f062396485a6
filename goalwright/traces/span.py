"""One step of a recorded run in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goalwright_planner.model import Usage


@dataclass(slots=True)
class Try:
    """One time that a step ran: from when, until when, and how it ended."""

    start: float
    end: float | None
    status: str

    def to_dict(self) -> dict[str, Any]:
        """The try as JSON."""
        return {"start": self.start, "end": self.end, "status": self.status}


@dataclass(slots=True)
class Span:
    """One step of a run, in seconds worked since the start; `waited_for` is the dependency that finished last.

    `start` and `end` are those of the last time that it ran, `tries` has all of them. `item` is the value that an item
    of a list is for, `replaced_by` the task that took this one's place.
    """

    id: str
    kind: str
    name: str | None = None
    title: str = ""
    status: str = "pending"
    depends_on: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None
    attempts: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0
    estimated_calls: int = 0
    tools: dict[str, int] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    waited_for: str | None = None
    inputs: str = ""
    why: str | None = None
    error: str | None = None
    retries: list[float] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    item: str | None = None
    replaced_by: str | None = None

    @property
    def stopped(self) -> float | None:
        """When it stopped working, the last time that it ran; a step that was cut off has no `end`."""
        return self.tries[-1].end if self.end is None and self.tries else self.end

    @property
    def seconds(self) -> float:
        """How long it took, the last time it ran."""
        return 0.0 if self.start is None or self.stopped is None else self.stopped - self.start

    def close(self, at: float, status: str) -> None:
        """End the try that is still open, if one is."""
        if self.tries and self.tries[-1].end is None:
            self.tries[-1].end, self.tries[-1].status = at, status

    def to_dict(self) -> dict[str, Any]:
        """The span as JSON; its lists are not copied, which took most of the time."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return fields | {"tries": [one.to_dict() for one in self.tries], "seconds": round(self.seconds, 3)}

    def spend(self, usage: Usage, cost: float | None) -> None:
        """Add a call's tokens and cost."""
        self.calls += 1
        self.tokens += usage.tokens
        self.estimated_calls += usage.estimated_calls
        self.cost_usd = None if self.cost_usd is None or cost is None else self.cost_usd + cost
