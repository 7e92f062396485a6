"""A detector for goals that come with a plan: it selects the skills that the plan names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection, SkillDetector, merge
from goalwright_skills.selection.detectors import top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.plan.plan import Plan
    from goalwright_skills.skill import Skill

# Recorded in place of a detector's name.
PLAN = "plan"
NAMED = "the plan names it"


@dataclass(frozen=True, slots=True)
class PlannedSelection:
    """Selects the skills of a plan in plan order; `others` ranks the skills that its tasks may load.

    With `certain`, the certain skills of the goal are selected too: a recipe's plan was made for another goal.
    """

    names: tuple[str, ...]
    others: SkillDetector
    certain: bool = False

    @classmethod
    def of(cls, plan: Plan | None, others: SkillDetector, *, certain: bool = False) -> PlannedSelection | None:
        """Create the detector for a plan; None if the plan names no skills."""
        names = planned_skills(plan)
        return cls(names, others, certain) if names else None

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that the plan names, manual ones too, then the certain ones if required."""
        detected = self.others.detect(goal, skills) if self.certain else []
        return merge(self._named, [selection for selection in detected if selection.certain])

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """Return the skills that the plan names, then the best others."""
        return merge(self._named, top(self.others, goal, skills, most))[:most]

    @property
    def _named(self) -> list[Selection]:
        return [Selection(name, 1.0, NAMED) for name in self.names]


def planned_skills(plan: Plan | None) -> tuple[str, ...]:
    """Return the skills that a plan names, in plan order."""
    tasks = plan.tasks if plan is not None else ()
    return tuple(dict.fromkeys(task.name for task in tasks if task.action_type == "skill" and task.name))
