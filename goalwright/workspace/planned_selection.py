"""The skills that a given plan names, as a detector: where the plan is there already, nothing is selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection, SkillDetector, merge
from goalwright_skills.selection.detectors import top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.plan.plan import Plan
    from goalwright_skills.skill import Skill

# What a run records in place of a detector's name.
PLAN = "plan"
NAMED = "the plan names it"


@dataclass(frozen=True, slots=True)
class PlannedSelection:
    """Gives the skills of a plan, in plan order; `others` ranks the rest, which its tasks may load.

    The plan of a recipe was made for another goal: what this goal needs for `certain` is selected besides.
    """

    names: tuple[str, ...]
    others: SkillDetector
    certain: bool = False

    @classmethod
    def of(cls, plan: Plan | None, others: SkillDetector, *, certain: bool = False) -> PlannedSelection | None:
        """The skills of a plan that names any; None where there is something to select."""
        names = planned_skills(plan)
        return cls(names, others, certain) if names else None

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the plan names, those that are used only by name too."""
        needed = [one for one in self.others.detect(goal, skills) if one.certain] if self.certain else []
        return merge(self._named, needed)

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The skills that the plan names, then the best of the others."""
        return merge(self._named, top(self.others, goal, skills, most))[:most]

    @property
    def _named(self) -> list[Selection]:
        return [Selection(name, 1.0, NAMED) for name in self.names]


def planned_skills(plan: Plan | None) -> tuple[str, ...]:
    """The skills that a plan names, each once, in plan order."""
    tasks = plan.tasks if plan is not None else ()
    return tuple(dict.fromkeys(task.name for task in tasks if task.action_type == "skill" and task.name))
