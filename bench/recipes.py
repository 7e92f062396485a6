"""Recipes: how many planning calls they save, and how many goals get a plan that is not theirs.

Floor: every goal is planned, which is what goalwright does without recipes. A plan for the wrong goal is the worst: the
figure that counts is `wrong`, which must be 0.

The goals are in bench/recipe_goals: ten kinds that the rules were tuned on, and five that were written afterwards. The
first goal of each kind is planned; then come 19 that are like it, and about ten that only look so.

    python -m bench.recipes
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bench.harness import command
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells
from goalwright.batch.shared_plans import SharedPlans
from goalwright.runs.goal import BatchPlace, Goal
from goalwright.runs.recipes.making import RecipeSource, found_parameters, made
from goalwright.runs.recipes.matching import RecipeMatcher
from goalwright.runs.recipes.pattern import LIKE
from goalwright.runs.run_id import new_run_id
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stop import Stop
from goalwright.settings.settings import Settings
from goalwright_planner.model import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.runs.recipes.recipe import Recipe
    from goalwright_planner.events import Event
    from goalwright_planner.model import Request

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, LIKE, 0.9, 0.95, 0.98)
HALVES = {"tuned on": True, "not tuned on": False}


@dataclass(frozen=True)
class Kind:
    """Goals of one kind: the first, with the texts of its plan, those that are like it, and those that are not."""

    name: str
    tuned: bool
    first: str
    plan: tuple[str, ...]
    like: tuple[str, ...]
    unlike: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The plan of the first goal; a task depends on those that it refers to."""
        ids = [text.split("<<")[1].split(".")[0] for text in self.plan if "<<" in text]
        names = [f"task{number}" for number in range(len(self.plan))]
        names[: len(ids)] = ids
        if len(self.plan) > 2:
            names[:2] = "one", "two"
        before = [[name for name in names if f"<<{name}." in text] for text in self.plan]
        return {
            "tasks": [
                {"id": name, "action_type": "llm", "instruction": text, "depends_on": after}
                for name, text, after in zip(names, self.plan, before, strict=True)
            ]
        }

    def recipe(self) -> Recipe:
        """The recipe of the first goal, with the parameters that are found."""
        source = RecipeSource(self.first, self.document())
        return made(self.name, source, found_parameters(source))


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds of goals."""
    text = (Path(__file__).parent / "recipe_goals" / "goals.yaml").read_text(encoding="utf-8")
    return tuple(
        Kind(row["kind"], row["tuned"], row["first"], *(tuple(row[key]) for key in ("plan", "like", "unlike")))
        for row in yaml.safe_load(text)
    )


@dataclass(frozen=True)
class Matched:
    """What became of the goals of some kinds: how many found the recipe of their kind, and which a wrong one."""

    like: int
    saved: int
    unlike: int
    wrong: tuple[str, ...]


def matched(some: Sequence[Kind]) -> Matched:
    """Match every goal with the recipes of all kinds."""
    recipes, matcher = [kind.recipe() for kind in kinds()], RecipeMatcher()
    saved, wrong = 0, []
    for kind in some:
        for goal in (*kind.like, *kind.unlike):
            found = matcher.match(goal, recipes)
            right = found is not None and found.recipe.name == kind.name and goal in kind.like
            saved += right
            wrong += [goal] if found is not None and not right else []
    like, unlike = (sum(len(getattr(kind, key)) for kind in some) for key in ("like", "unlike"))
    return Matched(like, saved, unlike, tuple(wrong))


def swept(some: Sequence[Kind]) -> list[str]:
    """For each threshold, how many goals would be matched, and how many wrongly; the best recipe of each counts."""
    recipes = [kind.recipe() for kind in kinds()]
    scores: list[tuple[float, bool]] = []
    for kind in some:
        for goal in (*kind.like, *kind.unlike):
            found = [(one.score, recipe.name) for recipe in recipes if (one := recipe.pattern.aligned(goal))]
            if found:
                best = max(found)
                scores.append((best[0], best[1] == kind.name and goal in kind.like))
    return [
        f"{sum(right for score, right in scores if score >= bound)} / "
        f"{sum(not right for score, right in scores if score >= bound)}"
        for bound in THRESHOLDS
    ]


@dataclass(slots=True)
class Planner:
    """A model that plans the first goals as the data has it, and any other by its own words; counts the plans."""

    goals: Sequence[str]
    name: str = "openai/none"
    plans: int = 0

    async def complete(self, request: Request) -> Reply:
        """A plan, or the end of any other task."""
        if request.role != "decomposer":
            return Reply("done")
        self.plans += 1
        asked = request.messages[-1].content
        first = next((kind for kind in kinds() if f"\n{kind.first}\n" in f"\n{asked}\n"), None)
        if first is not None:
            return Reply(json.dumps(first.document()))
        goal = max((goal for goal in self.goals if goal in asked), key=len)
        return Reply(json.dumps({"tasks": [{"id": "all", "action_type": "llm", "instruction": goal}]}))


async def in_batch(goals: Sequence[str]) -> int:
    """How many planning calls a batch of goals needs, with no recipe saved before it."""
    with tempfile.TemporaryDirectory(prefix="goalwright-bench-") as folder:
        planner = Planner(goals)
        names = tuple(skill.name for skill in Goalwright(folder, Settings()).workspace.skills.active())
        settings = Settings(model=planner.name, recipes="auto", skills_off=names, stream_plan=False)
        async with Goalwright(folder, settings, open_model=lambda _: planner) as goalwright:
            plans = SharedPlans(goalwright)
            for number, text in enumerate(goals):
                run_id = new_run_id()
                goal, lead = await plans.prepared(Goal(text, place=BatchPlace("bench", str(number), 1)), run_id, Stop())

                def hear(event: Event, lead: Any = lead) -> None:
                    if lead is not None:
                        lead.note(event)

                await goalwright.run(goal, run_id=run_id, record=hear)
                if lead is not None:
                    lead.end()
        return planner.plans


def run(options: Options) -> Findings:
    """Match all goals; unless it has to be quick, run the tuned ones as a batch too."""
    halves = {name: [kind for kind in kinds() if kind.tuned is tuned] for name, tuned in HALVES.items()}
    found = {name: matched(some) for name, some in halves.items()}
    columns = (
        Column("kinds"),
        Column("goals"),
        Column("plan calls"),
        Column("saved"),
        Column("unlike"),
        Column("wrong"),
    )
    rows = {}
    for name, some in halves.items():
        one = found[name]
        goals = one.like + len(some)
        rows[name] = cells(len(some), goals, goals - one.saved, f"{one.saved / goals:.0%}", one.unlike, len(one.wrong))
    sweep = {name: cells(*swept(some)) for name, some in halves.items()}
    tables = [
        Table("A recipe saved of the first goal of each kind", columns, rows, is_plotted=False),
        Table(
            "Matched / wrong by threshold", tuple(Column(f"{bound:g}") for bound in THRESHOLDS), sweep, is_plotted=False
        ),
    ]
    aims = [Aim(f"wrong matches, {name}", len(one.wrong), 0, is_count=True) for name, one in found.items()]
    if not options.quick:
        tables.append(_batches())
    return Findings(tuple(tables), tuple(aims), tuple(f"wrong: {goal}" for one in found.values() for goal in one.wrong))


def _batches() -> Table:
    """Batches without saved recipes: a hundred goals of one wording, and all that were tuned on, shuffled."""
    tuned = [kind for kind in kinds() if kind.tuned]
    every = [goal for kind in tuned for goal in (kind.first, *kind.like)]
    random.Random(7).shuffle(every)
    trips = [f"Plan a trip of {number} days to Lisbon for a family with children" for number in range(2, 102)]
    rows = {
        "100 of one wording": cells(100, asyncio.run(in_batch(trips))),
        f"{len(every)} of {len(tuned)} kinds": cells(len(every), asyncio.run(in_batch(every))),
    }
    return Table("A batch, nothing saved before it", (Column("goals"), Column("plan calls")), rows, is_plotted=False)


BENCHMARK = Benchmark(
    "recipes",
    "Recipes: planning calls saved, and goals that get a plan which is not theirs.",
    "Every goal is planned.",
    (),
    run,
)


def main() -> int:
    """As `python -m bench.recipes`."""
    return command.single(BENCHMARK)


if __name__ == "__main__":
    sys.exit(main())
