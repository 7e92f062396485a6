"""The dry run of a batch: the skills of its goals, and the least number of calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.batch.engine import plan_of
from goalwright.workspace.planned_selection import planned_skills

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goalwright.batch.goals import BatchGoal
    from goalwright.workspace.skills import WorkspaceSkills

    NoteGoal = Callable[[BatchGoal, Sequence[str]], None]

_MOST_SKILLS = 20


@dataclass(frozen=True, slots=True)
class BatchPreview:
    """The number of goals, of goals without a skill, of goals by skill, and the least number of calls.

    `skipped` goals have a result of an earlier run; it is None if the batch is not resumed.
    """

    goals: int
    without_skill: int
    skills: dict[str, int]
    calls: int
    skipped: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as `--json` prints it."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


def preview(goals: Iterable[BatchGoal], skills: WorkspaceSkills, note: NoteGoal | None = None) -> BatchPreview:
    """Select the skills of every goal and count, without calling a model; `note` receives each goal and its skills."""
    selected, total, without, calls = Counter[str](), 0, 0, 0
    for goal in goals:
        names = _skills_of(goal, skills)
        selected.update(names)
        if note is not None:
            note(goal, names)
        total, without, calls = total + 1, without + (not names), calls + _least_calls(goal)
    return BatchPreview(total, without, dict(selected.most_common(_MOST_SKILLS)), calls)


def _skills_of(goal: BatchGoal, skills: WorkspaceSkills) -> list[str]:
    """Return the skills that a goal's own plan names, else the selected ones."""
    planned = planned_skills(plan_of(goal))
    if planned:
        return list(dict.fromkeys((*goal.skills, *planned)))
    return [skill.name for skill in skills.select(skills.request(goal.text, goal.skills))]


def _least_calls(goal: BatchGoal) -> int:
    """Return two calls, to plan and for a single task, or the calls that the goal's own plan needs."""
    plan = plan_of(goal)
    if plan is None:
        return 2
    return sum((task.action_type != "tool") + task.asks for task in plan.tasks) + plan.needs_synthesis
