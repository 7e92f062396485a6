"""Plans made by rule: a goal that is one thing is one task, and a goal that lists its parts has a task for each.

Small models plan badly or not at all, and a rule saves the planning call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.reading.shape import title_of
from goalwright_planner.small_models.coverage import missing
from goalwright_planner.small_models.parts import parts_of
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from goalwright_planner.prompting.profile import Profile
    from goalwright_planner.small_models.parts import GoalParts, Part

SkillFor = Callable[[str], str | None]


def no_skill(text: str) -> str | None:
    """The `skill_for` of plans without skills."""
    return None


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A plan made by rule, and the rule in words."""

    plan: Plan
    rule: str


@dataclass(frozen=True, slots=True)
class PlannedGoal:
    """A goal to plan, with the `best` skill for all of it and `skill_for` for its parts.

    `asked` are the skills that must be used; `notes` are added to every instruction.
    """

    text: str
    best: str | None = None
    skill_for: SkillFor = no_skill
    asked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def parts(self) -> GoalParts:
        """The goal's parts."""
        return parts_of(self.text)

    def missing(self, instructions: Iterable[str]) -> list[str]:
        """The words of the goal that no instruction has."""
        return missing(self.text, instructions)


def plan_by_rule(goal: PlannedGoal, profile: Profile, max_tasks: int) -> RulePlan | None:
    """Return the plan for a goal that this kind of model is not asked about; None if the model plans it."""
    if not (profile.simple_by_rule or profile.parts_by_rule or profile.certain_by_rule):
        return None
    goal_parts = goal.parts()
    texts = [part.text for part in goal_parts.parts]
    by_parts = profile.parts_by_rule or (profile.certain_by_rule and goal_parts.certain)
    if by_parts and 1 < len(texts) <= max_tasks and not goal.missing(texts):
        return RulePlan(plan_of_parts(goal_parts.parts, goal), f"the goal lists {counted(len(texts), 'part')}")
    if profile.simple_by_rule and goal_parts.simple:
        return RulePlan(whole_plan(goal), "the goal is one task")
    if profile.parts_by_rule:
        return RulePlan(whole_plan(goal), "the goal lists no parts, and a model of this size does not find any")
    return None


def whole_plan(goal: PlannedGoal) -> Plan:
    """Return a plan of one task, whose instruction is the whole goal."""
    return Plan((task_of("t1", goal.text.strip(), goal.best, (), goal.notes),))


def plan_of_parts(parts: Sequence[Part], goal: PlannedGoal) -> Plan:
    """Return a plan with a task for each part, each with the skill that ranks best for it."""
    skills = _with_asked([goal.skill_for(part.text) for part in parts], goal.asked)
    return Plan(
        tuple(
            task_of(f"t{number}", part.text, skill, tuple(f"t{index + 1}" for index in part.after), goal.notes)
            for number, (part, skill) in enumerate(zip(parts, skills, strict=True), start=1)
        )
    )


def with_joined_results(plan: Plan) -> Plan:
    """Return the plan, whose final results are joined without a model unless its synthesis says otherwise."""
    return replace(plan, joined=True) if plan.synthesis is None and len(plan.finals) > 1 else plan


def task_of(task_id: str, text: str, skill: str | None, after: tuple[str, ...], notes: Sequence[str] = ()) -> Task:
    """Return a task with or without a skill."""
    task = Task(task_id, "llm", title_of(text.rstrip(".。")), instruction=" ".join((text, *notes)), depends_on=after)
    return task if skill is None else replace(task, action_type="skill", name=skill)


def _with_asked(skills: list[str | None], asked: Sequence[str]) -> list[str | None]:
    """Return the parts' skills with the skills that must be used, which replace missing ones first."""
    for name in asked:
        if name not in skills:
            index = next((index for index, skill in enumerate(skills) if skill is None), 0)
            skills[index] = name
    return skills
