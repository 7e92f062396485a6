"""Plans that are made, refused and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from goalwright_planner.events.event import Event
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

ChangeCause = Literal["for_each", "goal", "replan", "stream", "person", "repeat"]


class PlanRefused(Event, frozen=True):
    """A model's answer is not a valid plan, or not a valid change with this number; `faults` has all its faults.

    `task` is the sub-goal that the plan is for.
    """

    attempt: int
    faults: tuple[str, ...]
    change: int | None = None
    task: str | None = None


class PlanMade(Event, frozen=True):
    """The plan that will run; `repairs` says how it differs from the model's answer or the file.

    `rule` says why no model was asked, unless the plan was given.
    """

    plan: Plan
    attempts: int
    repairs: tuple[str, ...] = ()
    rule: str = ""


class PlanChanged(Event, frozen=True):
    """The plan changed while it ran; a run's plan is the plan that was made, with all changes applied.

    `of` is the task that the change belongs to. `rewired` maps ids to replacements in dependencies and references.
    Without a `synthesis`, the plan keeps its own. `unused` has reasons for skills that no task uses any more.
    """

    cause: ChangeCause
    of: str | None = None
    added: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()
    rewired: Mapping[str, str] = {}
    synthesis: str | None = None
    note: str = ""
    unused: Mapping[str, str] = {}

    def applied(self, plan: Plan) -> Plan:
        """Return the plan after the change."""
        return plan.changed(self.added, self.dropped, self.rewired, self.synthesis, self.unused)


class ReplanAsked(Event, frozen=True):
    """A person asked for a change of the plan, in these words."""

    request: str
