"""The request for one plan, with everything that follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goalwright_planner.decompose import required
from goalwright_planner.plan.validate import problems
from goalwright_planner.prompting.profile import FULL, Profile
from goalwright_planner.reading.shape import AskedPlan
from goalwright_planner.small_models.candidates import Candidates
from goalwright_planner.small_models.rules import (
    PlannedGoal,
    RulePlan,
    SkillFor,
    no_skill,
    plan_by_rule,
    with_joined_results,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.task import Task
    from goalwright_skills.image_file import Image

ATTEMPTS = 3
_SUB_GOAL_ATTEMPTS = 2
# The tasks that a chain of functions or tool calls may take, even if the goal lists one thing.
_CHAIN = 3
# Teaching a planner about rounds costs tokens that only goals with these words are worth.
_ROUNDS = re.compile(
    r"\b(?:until|till|repeat(?:ed|edly|ing)?|iterat(?:e|es|ively|ing|ion|ions)|re-?try|in a loop|rounds?"
    r"|again and again|over and over|keep (?:on )?\w+ing|(?:as often|as long) as"
    r"|bis (?:alle|das|der|die|es|kein|keine|nichts|sie)\b|wiederhol\w+|solange|runden?"
    r"|jusqu|répét\w+|tant que|hasta que|repit\w+|repet\w+|até que|finché|fino a quando|ripet\w+)"
    r"|直到|重复|反复|直至|まで繰り返|繰り返し|될 때까지|반복|пока не|повтор",
    re.IGNORECASE,
)
# So does teaching about conditions on items: "each" near "only if".
_EACH = (
    r"(?:\b(?:each|every|all|any|those|the ones|jede[nmrs]?|alle[nmrs]?|chaque|tous|toutes|cada|tod[oa]s|ogni)\b"
    r"|每|それぞれ|すべて|각|모든|кажд|всех)"
)
_ONLY_IF = (
    r"(?:\b(?:only (?:if|where|when|those|the ones|for)|if (?:it|they|its|there)|unless|except (?:if|where|for|those)"
    r"|(?:that|which) (?:is|are|was|were|has|have|do|does|needs?|lacks?|contains?|mentions?)|whose"
    r"|nur (?:wenn|falls|die|für)|falls|außer|seulement (?:si|ceux|celles)|sauf|solo (?:si|se|los|las|quelli)|excepto"
    r"|apenas (?:se|os|as)|tranne)\b|如果|只有|只对|場合|だけ|경우|если|только)"
)
_ITEM_CONDITIONS = re.compile(rf"{_EACH}[^.!?\n]{{0,200}}{_ONLY_IF}|{_ONLY_IF}[^.!?\n]{{0,200}}{_EACH}", re.IGNORECASE)


@dataclass(frozen=True)
class Brief:
    """The request for one plan: the goal, and the skills and tools that the plan may use.

    - `skills` and `tools` are the listings that prompts contain; `names` are the selected skills, best first.
    - `asked` are skills that the goal names, `certain` skills that a plan must use or give a reason why not, and
      `required` skills that it must use. `skill_for` returns the best skill for a part of the goal.
    - `called` are the tools that a small model may plan with.
    - `schema` is the form of the run's answer, and `images` are the images among the files.
    - `task` is the id of a sub-goal; `results` are the results of the tasks that it depends on.
    - `earlier` sums up an earlier run or conversation. `fixed` are tasks that have begun and must stay in the plan.
    - With `direct`, the model may answer the goal instead of planning it.
    """

    goal: str
    skills: str
    tools: str
    date: str
    known: Known
    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    profile: Profile = FULL
    asked: tuple[str, ...] = ()
    skill_for: SkillFor = no_skill
    schema: Mapping[str, Any] | None = None
    task: str | None = None
    results: Sequence[Mapping[str, str]] = ()
    earlier: str = ""
    fixed: tuple[Task, ...] = ()
    certain: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    direct: bool = False
    images: tuple[Image, ...] = ()
    called: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """The number of answers that a model may give."""
        return ATTEMPTS if self.task is None else _SUB_GOAL_ATTEMPTS

    @property
    def max_tasks(self) -> int:
        """The number of tasks that the plan may have."""
        return min(self.known.max_tasks, self.profile.most_tasks or self.known.max_tasks)

    @property
    def sub_goals(self) -> bool:
        """Whether a task of the plan may be a goal itself."""
        return self.known.max_depth > 0

    @cached_property
    def repeats(self) -> bool:
        """Whether the prompt explains rounds, because the goal asks for them."""
        return asks_for_rounds(self.goal)

    @cached_property
    def item_conditions(self) -> bool:
        """Whether the prompt explains conditions on items, because the goal wants something done with some of many."""
        return _ITEM_CONDITIONS.search(self.goal) is not None

    @cached_property
    def candidates(self) -> Candidates:
        """The skills and tools that the model chooses from."""
        return Candidates(
            self.goal,
            self.names,
            self.certain,
            self.called,
            self.skills,
            self.tools,
            self.known.tools,
            self.profile,
        )

    @cached_property
    def must_use(self) -> tuple[str, ...]:
        """The certain skills that the model is shown: a plan without them, and without a reason, is refused once."""
        return tuple(name for name in self.certain if name in self.candidates.skills)

    @cached_property
    def asked_plan(self) -> AskedPlan:
        """The plan that the schema of the answer describes."""
        return AskedPlan(
            self.goal,
            self.candidates.skills,
            self.max_tasks,
            sub_goals=self.sub_goals,
            unused=bool(self.must_use),
            direct=self.direct,
            repeats=self.repeats,
            room=_CHAIN if self.called or self.candidates.functions else 1,
            tools=self.candidates.tools,
        )

    @cached_property
    def judged_by(self) -> Known:
        """What a plan may use; references quoted from the goal, answers and earlier results are plain text."""
        texts = (self.goal, *self.answers, self.earlier, *(text for row in self.results for text in row.values()))
        return replace(self.known, direct=self.direct, quoted=(*self.known.quoted, *filter(None, texts)))

    @cached_property
    def planned_goal(self) -> PlannedGoal:
        """The goal for plans that are made or completed by rule."""
        notes = tuple(f"Note: {answer}" for answer in self.answers)
        best = self.names[0] if self.names else None
        return PlannedGoal(self.goal, best, self.skill_for, tuple(dict.fromkeys((*self.asked, *self.required))), notes)

    def by_rule(self) -> RulePlan | None:
        """Return the plan that needs no model, if it is valid and uses the skills that it must.

        A model that plans may find a place for a skill that the rule has none for.
        """
        if self.called:
            return None  # no rule says with which arguments to call a tool
        profile = replace(self.profile, simple_by_rule=False) if self.candidates.functions else self.profile
        ruled = plan_by_rule(self.planned_goal, profile, self.known.max_tasks)
        if ruled is None or problems(ruled.plan.to_dict(), self.judged_by):
            return None
        if self.profile.joins_results:
            ruled = replace(ruled, plan=with_joined_results(ruled.plan))
        must_use = self.required if self.profile.parts_by_rule else (*self.required, *self.must_use)
        return None if required.unused(ruled.plan.to_dict(), must_use) else ruled


def asks_for_rounds(text: str) -> bool:
    """Whether a text asks for something to be repeated, or done until a condition holds."""
    return _ROUNDS.search(text) is not None
