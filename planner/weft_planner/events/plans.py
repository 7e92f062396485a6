"""How a plan is made and changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft_planner.plan.plan import Plan, Task

ChangeCause = Literal["for_each", "goal", "replan", "stream", "person"]


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """A model's answer is not a valid plan, or not a valid change of that number; these are all its faults.

    `task` is the sub-goal that the plan is for.
    """

    attempt: int
    faults: tuple[str, ...]
    change: int | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The plan that will run; `repairs` says how it differs from what the model, or the file, had.

    If no model was asked, `rule` says why, unless the plan was given.
    """

    plan: Plan
    attempts: int
    repairs: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The plan changed while it ran: the plan is the one that was made, with every change since.

    `of` is the task that the change belongs to; `rewired` maps ids to those that take their place in dependencies and
    references; without a `synthesis`, the plan keeps its own.
    """

    cause: ChangeCause
    of: str | None = None
    added: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()
    rewired: Mapping[str, str] = field(default_factory=dict)
    synthesis: str | None = None
    note: str = ""

    def applied(self, plan: Plan) -> Plan:
        """The plan after the change."""
        return plan.changed(self.added, self.dropped, self.rewired, self.synthesis)


@dataclass(frozen=True, slots=True)
class ReplanAsked:
    """A person asked for a change of the plan, in these words."""

    request: str
