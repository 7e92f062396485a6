"""The limits on growth that a replayed run came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.plan.changes.change import is_growth_fault
from goalwright_planner.plan.task_id import round_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_executor.history.run_history import RunHistory
    from goalwright_executor.scheduling.expand import GrowthLimits
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


@dataclass(frozen=True, slots=True)
class RecordedLimits:
    """How far a recorded plan could grow: which task came to the limit for all depended on who was faster."""

    history: RunHistory
    limits: GrowthLimits

    def fault(self, task: Task, added: Sequence[Task], plan: Plan) -> str | None:
        """Why the recorded task did not grow; None if it did."""
        if self._grew(task, added):
            return None
        recorded = self.history.tasks.get(task.id)
        error = recorded.error if recorded is not None and recorded.status == "failed" else None
        if error is not None and is_growth_fault(error):
            return error
        now = self.limits.fault(task, added, plan)
        return None if now is not None and is_growth_fault(now) else now

    def _grew(self, task: Task, added: Sequence[Task]) -> bool:
        """Whether the recorded task grew: into parts, or into this round."""
        plan = self.history.plan
        if plan is None:
            return False
        rounds = [part.id for part in added if round_of(part.id) is not None]
        return any(name in plan for name in rounds) if rounds else bool(plan.parts_of(task.id))
