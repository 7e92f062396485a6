"""The timing and usage of one step of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goalwright_planner.model import Usage


@dataclass(slots=True)
class Try:
    """One execution of a step: its start, end and status."""

    start: float
    end: float | None
    status: str

    def to_dict(self) -> dict[str, Any]:
        """Return the try as JSON."""
        return {"start": self.start, "end": self.end, "status": self.status}


@dataclass(slots=True)
class Span:
    """A step of a run; times are seconds of work since the start of the run.

    `start` and `end` are those of the last try, `tries` has all. `waited_for` is the dependency that finished last,
    `item` the value of a list item, and `replaced_by` the task that replaced this one.
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
        """When the last try stopped; an interrupted step has no `end`."""
        return self.tries[-1].end if self.end is None and self.tries else self.end

    @property
    def seconds(self) -> float:
        """The duration of the last try."""
        return 0.0 if self.start is None or self.stopped is None else self.stopped - self.start

    def close(self, at: float, status: str) -> None:
        """End the open try, if any."""
        if self.tries and self.tries[-1].end is None:
            self.tries[-1].end, self.tries[-1].status = at, status

    def to_dict(self) -> dict[str, Any]:
        """Return the span as JSON; lists are not copied, for speed."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return fields | {"tries": [item.to_dict() for item in self.tries], "seconds": round(self.seconds, 3)}

    def spend(self, usage: Usage, cost: float | None) -> None:
        """Add a call's tokens and cost."""
        self.calls += 1
        self.tokens += usage.tokens
        self.estimated_calls += usage.estimated_calls
        self.cost_usd = None if self.cost_usd is None or cost is None else self.cost_usd + cost
