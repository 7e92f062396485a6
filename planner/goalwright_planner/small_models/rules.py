"""Plans that need no model: a goal that is one thing is one task, and one that lists its parts has a task for each.

For small models, which plan badly or not at all; the planning call is saved as well.
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
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from goalwright_planner.prompting.profile import Profile
    from goalwright_planner.small_models.parts import GoalParts, Part

SkillFor = Callable[[str], str | None]


def no_skill(text: str) -> str | None:
    """For plans without skills."""
    return None


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A plan made by rule, and the rule in words."""

    plan: Plan
    rule: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a plan is made for: the goal, the best skill for all of it, and how to find the skill for a part.

    `asked` are the skills that must be used, `notes` are added to every instruction, and `rules` are the run's.
    """

    goal: str
    best: str | None = None
    skill_for: SkillFor = no_skill
    asked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def parts(self) -> GoalParts:
        """The goal's parts."""
        return parts_of(self.goal)

    def lost(self, instructions: Iterable[str]) -> list[str]:
        """The words of the goal that no instruction has."""
        return missing(self.goal, instructions)


def plan_by_rule(wanted: Wanted, profile: Profile, most: int) -> RulePlan | None:
    """The plan for a goal that this kind of model is not asked about; None if the model plans it."""
    if not (profile.simple_by_rule or profile.parts_by_rule or profile.certain_by_rule):
        return None
    goal_parts = wanted.parts()
    texts = [part.text for part in goal_parts.parts]
    by_parts = profile.parts_by_rule or (profile.certain_by_rule and goal_parts.certain)
    if by_parts and 1 < len(texts) <= most and not wanted.lost(texts):
        return RulePlan(plan_of_parts(goal_parts.parts, wanted), f"the goal lists {counted(len(texts), 'part')}")
    if profile.simple_by_rule and goal_parts.simple:
        return RulePlan(whole_plan(wanted), "the goal is one task")
    if profile.parts_by_rule:
        return RulePlan(whole_plan(wanted), "the goal lists no parts, and a model of this size does not find any")
    return None


def whole_plan(wanted: Wanted) -> Plan:
    """A plan of one task, whose instruction is the whole goal."""
    return Plan((task_of("t1", wanted.goal.strip(), wanted.best, (), wanted.notes),))


def plan_of_parts(parts: Sequence[Part], wanted: Wanted) -> Plan:
    """A plan with a task for each part; each has the skill that ranks best for it."""
    skills = _with_asked([wanted.skill_for(part.text) for part in parts], wanted.asked)
    return Plan(
        tuple(
            task_of(f"t{at}", part.text, skill, tuple(f"t{before + 1}" for before in part.after), wanted.notes)
            for at, (part, skill) in enumerate(zip(parts, skills, strict=True), start=1)
        )
    )


def joined(plan: Plan) -> Plan:
    """The plan, with several final results put below each other unless it says what to make of them."""
    return replace(plan, joined=True) if plan.synthesis is None and len(plan.finals) > 1 else plan


def task_of(task_id: str, text: str, skill: str | None, after: tuple[str, ...], notes: Sequence[str] = ()) -> Task:
    """A task with a skill, or without one."""
    task = Task(task_id, "llm", title_of(text.rstrip(".。")), instruction=" ".join((text, *notes)), depends_on=after)
    return task if skill is None else replace(task, action_type="skill", name=skill)


def _with_asked(skills: list[str | None], asked: Sequence[str]) -> list[str | None]:
    """The skills of the parts, with those that must be used: a part without a skill gets one first."""
    for name in asked:
        if name not in skills:
            place = next((at for at, skill in enumerate(skills) if skill is None), 0)
            skills[place] = name
    return skills
