"""What the decomposer is given, and the variables of its prompts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from goalwright_planner.decompose import required
from goalwright_planner.plan.validate import problems
from goalwright_planner.prompting.profile import FULL, Profile
from goalwright_planner.reading.shape import AskedPlan, offered_arguments
from goalwright_planner.small_models.material import Material, material_of
from goalwright_planner.small_models.rules import RulePlan, SkillFor, Wanted, joined, no_skill, plan_by_rule
from goalwright_skills.discovery.listed import descriptions_of, lines_of
from goalwright_skills.selection.query.terms import terms
from goalwright_skills.text.shorten import cut
from goalwright_skills.tools.listing import LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_planner.plan.task import Task
    from goalwright_planner.plan.validate import Known
    from goalwright_planner.prompting.profile import PlanExample
    from goalwright_skills.image_file import Image

ATTEMPTS = 3
_ATTEMPTS_OF_SUB_GOALS = 2
# Characters of a candidate's description: a small model reads all of them.
_LINE = 80
# Characters of the names of a tool's arguments.
_ARGUMENTS = 500
# Tasks that there is room for where one sentence may need several functions in turn.
_CHAIN = 3
# What a planner is told of rounds costs tokens, which only these goals are worth.
_ROUNDS = re.compile(
    r"\b(?:until|till|repeat(?:ed|edly|ing)?|iterat(?:e|es|ively|ing|ion|ions)|re-?try|in a loop|rounds?"
    r"|again and again|over and over|keep (?:on )?\w+ing|(?:as often|as long) as"
    r"|bis (?:alle|das|der|die|es|kein|keine|nichts|sie)\b|wiederhol\w+|solange|runden?"
    r"|jusqu|répét\w+|tant que|hasta que|repit\w+|repet\w+|até que|finché|fino a quando|ripet\w+)"
    r"|直到|重复|反复|直至|まで繰り返|繰り返し|될 때까지|반복|пока не|повтор",
    re.IGNORECASE,
)
# What a planner is told of conditions on items costs tokens, which only these goals are worth.
_MANY = (
    r"(?:\b(?:each|every|all|any|those|the ones|jede[nmrs]?|alle[nmrs]?|chaque|tous|toutes|cada|tod[oa]s|ogni)\b"
    r"|每|それぞれ|すべて|각|모든|кажд|всех)"
)
_SOME = (
    r"(?:\b(?:only (?:if|where|when|those|the ones|for)|if (?:it|they|its|there)|unless|except (?:if|where|for|those)"
    r"|(?:that|which) (?:is|are|was|were|has|have|do|does|needs?|lacks?|contains?|mentions?)|whose"
    r"|nur (?:wenn|falls|die|für)|falls|außer|seulement (?:si|ceux|celles)|sauf|solo (?:si|se|los|las|quelli)|excepto"
    r"|apenas (?:se|os|as)|tranne)\b|如果|只有|只对|場合|だけ|경우|если|только)"
)
_ITEMS_APART = re.compile(rf"{_MANY}[^.!?\n]{{0,200}}{_SOME}|{_SOME}[^.!?\n]{{0,200}}{_MANY}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Brief:
    """What the decomposer is given: the goal, and the skills and tools for it; `names` are the selected skills.

    `asked` are those among them that were asked for by name, `certain` those that a plan has to use or say why not,
    `required` those that it has to use, and `skill_for` finds the best skill for a part of the goal. The answer must
    have the form of `schema`. For a sub-goal, `task` is its id, and `results` are of tasks that it depends on.
    `earlier` says what an earlier run, or a conversation, came to. The plan must have the tasks that are `fixed`: they
    have begun. Where `direct`, the model may answer at once instead. `images` are those among the files. `called` are
    the tools that a small model may plan with.
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
    def sub_goals(self) -> bool:
        """Whether a task of the plan may be a goal itself."""
        return self.known.max_depth > 0

    @property
    def repeats(self) -> bool:
        """Whether the model is told that a task may be done in rounds: where the goal asks for that."""
        return asks_for_rounds(self.goal)

    @property
    def item_conditions(self) -> bool:
        """Whether the model is told that a condition may read the item: where the goal tells some from others."""
        return tells_items_apart(self.goal)

    @property
    def attempts(self) -> int:
        """How many answers a model may give."""
        return ATTEMPTS if self.task is None else _ATTEMPTS_OF_SUB_GOALS

    @property
    def asked_plan(self) -> AskedPlan:
        """The plan that a model is asked for."""
        return AskedPlan(
            self.goal,
            self.shown,
            self.max_tasks,
            sub_goals=self.sub_goals,
            unused=bool(self.must_use),
            direct=self.direct,
            repeats=self.repeats,
            room=_CHAIN if self.functions or self.called else 1,
            tools={name: self.known.tools[name] for name in self.called},
        )

    @property
    def wanted(self) -> Wanted:
        """What a plan by rule is made for."""
        notes = tuple(f"Note: {answer}" for answer in self.answers)
        best = self.names[0] if self.names else None
        return Wanted(self.goal, best, self.skill_for, tuple(dict.fromkeys((*self.asked, *self.required))), notes)

    @property
    def judged_by(self) -> Known:
        """What a plan may use; what it quotes from the goal, answers or earlier results refers to nothing."""
        told = (self.goal, *self.answers, self.earlier, *(text for row in self.results for text in row.values()))
        return replace(self.known, direct=self.direct, quoted=(*self.known.quoted, *filter(None, told)))

    def by_rule(self) -> RulePlan | None:
        """The plan that needs no model, if there is one that can run and uses the skills it has to.

        A model that plans may find a place for a skill that the rule has none for.
        """
        if self.called:
            return None  # no rule tells what to call a tool with
        profile = replace(self.profile, simple_by_rule=False) if self.functions else self.profile
        ruled = plan_by_rule(self.wanted, profile, self.known.max_tasks)
        if ruled is None or problems(ruled.plan.to_dict(), self.judged_by):
            return None
        if self.profile.joins_results:
            ruled = replace(ruled, plan=joined(ruled.plan))
        must_use = self.required if self.profile.parts_by_rule else (*self.required, *self.must_use)
        return ruled if not required.unused(ruled.plan, must_use) else None

    @property
    def max_tasks(self) -> int:
        """How many tasks the plan may have."""
        return min(self.known.max_tasks, self.profile.most_tasks or self.known.max_tasks)

    @property
    def functions(self) -> bool:
        """Whether the skills for the goal are single functions, of which one sentence may need several in turn.

        A line says all about such a skill.
        """
        texts = descriptions_of(self.skills, self.profile.candidates or 0).values() if self.names else ()
        return bool(texts) and median(map(len, texts)) <= _LINE

    @property
    def material(self) -> Material | None:
        """What the goal brings along, if the model has neither skills nor tools to choose from."""
        return material_of(self.goal) if not self.shown and not self.called else None

    @property
    def examples(self) -> tuple[PlanExample, ...]:
        """The examples that are shown: with tools, those that call some; for one thing, and functions, a chain.

        For a goal with material, and without skills to choose from, those of goals with such material.
        """
        every = self.profile.examples
        if self.called:
            return tuple(example for example in every if example.tool_lines)
        like = tuple(example for example in every if example.material and example.material == self.material)
        if like:
            return like
        chained = self.functions and self.wanted.parts().simple
        others = (example for example in every if not example.tool_lines and not example.material)
        return tuple(example for example in others if bool(example.lines) == chained)

    @property
    def lines(self) -> dict[str, str]:
        """A line of each skill among which the model is to choose; none where none is selected, or all are certain.

        Functions that are certain may need others. The line of one whose name tells what it does is empty.
        """
        candidates = self.profile.candidates
        if candidates is None or not (self.functions or set(self.names).difference(self.certain)):
            return {}
        if not self.functions:
            return lines_of(self.skills, candidates, _LINE)
        shown = lines_of(self.skills, self.profile.function_candidates or candidates, _LINE)
        return {name: "" if _tells(name, line) else line for name, line in shown.items()}

    @property
    def tool_lines(self) -> tuple[str, ...]:
        """A line of each tool that the model may plan with: its name, its parameters, what it does."""
        about, tools = descriptions_of(self.tools, LIMIT), self.asked_plan.tools
        return tuple(
            f"{name}({cut(', '.join(offered_arguments(tools[name])), _ARGUMENTS)}): {cut(about.get(name, ''), _LINE)}"
            for name in self.called
        )

    @property
    def shown(self) -> tuple[str, ...]:
        """The skills that the model is shown: those selected, or those among which it is to choose."""
        return tuple(self.lines) or self.names[: self.profile.skills_shown]

    @property
    def must_use(self) -> tuple[str, ...]:
        """The skills that the model is asked for again if its plan leaves them out without a reason."""
        return tuple(name for name in self.certain if name in self.shown)


def _tells(name: str, line: str) -> bool:
    """Whether a function's name has several words, one of which its description has too."""
    words = name.replace("_", "-").split("-")
    return len(words) > 1 and not set(terms(" ".join(words))).isdisjoint(terms(line))


def asks_for_rounds(goal: str) -> bool:
    """Whether a goal speaks of doing something again, or until something holds."""
    return _ROUNDS.search(goal) is not None


def tells_items_apart(goal: str) -> bool:
    """Whether a goal speaks of many things, and of a condition that holds for some of them."""
    return _ITEMS_APART.search(goal) is not None


def variables_of(brief: Brief) -> dict[str, Any]:
    """The variables of the decomposer's templates."""
    images = tuple({"path": image.path, "about": image.facts} for image in brief.images)
    more = {"images": images, "tool_lines": brief.tool_lines, "material": brief.material}
    return {key: value for key, value in more.items() if value} | {
        "goal": brief.goal,
        "skills": brief.skills,
        "tools": brief.tools,
        "names": brief.shown,
        "lines": brief.lines,
        "date": brief.date,
        "most_tasks": brief.max_tasks,
        "files": brief.files,
        "answers": brief.answers,
        "models": tuple(brief.known.models),
        "schema": json.dumps(brief.schema, ensure_ascii=False) if brief.schema is not None else "",
        "results": brief.results,
        "sub_goals": brief.sub_goals,
        "certain": brief.must_use,
        "direct": brief.direct,
        "repeats": brief.repeats,
        "item_conditions": brief.item_conditions,
        "fixed": tuple(json.dumps(task.to_dict(), ensure_ascii=False) for task in brief.fixed),
    }
