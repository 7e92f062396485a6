"""One step of a recorded run in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft_planner.model import Usage


@dataclass(slots=True)
class Span:
    """One step of a run, in seconds worked since the start; `waited_for` is the dependency that finished last."""

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

    @property
    def seconds(self) -> float:
        """How long it took, the last time it ran."""
        return 0.0 if self.start is None or self.end is None else self.end - self.start

    def spend(self, usage: Usage, cost: float | None) -> None:
        """Add a call's tokens and cost."""
        self.calls += 1
        self.tokens += usage.tokens
        self.estimated_calls += usage.estimated_calls
        self.cost_usd = None if self.cost_usd is None or cost is None else self.cost_usd + cost
