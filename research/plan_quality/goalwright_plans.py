"""Plans goals with goalwright, from the selection of skills to repeated requests."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.workspace.tool_choice import fitting_tools
from goalwright.workspace.workspace import Workspace
from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.decompose import decompose
from goalwright_planner.errors import PlanError
from goalwright_planner.events import PlanMade, PlanRefused
from goalwright_planner.model import ToolSpec
from goalwright_planner.plan.known import Known
from goalwright_planner.prompting.prompts import Prompts
from goalwright_skills.discovery.locations import LIBRARY
from goalwright_skills.tools import listing as tool_listing

if TYPE_CHECKING:
    from types import TracebackType

    from goalwright_planner.events.event import Event
    from goalwright_planner.model import Model
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.prompting.profile import Profile

    from plan_quality.goals import PlanGoal

DATE = "2026-11-16"


@dataclass(slots=True)
class Planned:
    """A goal's plan, if any, and how it was made."""

    plan: Plan | None = None
    refused: int = 0
    repaired: bool = False
    by_rule: bool = False


@dataclass(slots=True)
class GoalwrightPlans:
    """Plans goals with one model; each set of skills is written to a folder once."""

    model: Model
    profile: Profile
    prompts: Prompts = field(default_factory=Prompts)
    _stack: ExitStack = field(default_factory=ExitStack)
    _workspaces: dict[int, Workspace] = field(default_factory=dict)

    def __enter__(self) -> GoalwrightPlans:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    async def plan(self, goal: PlanGoal) -> Planned:
        """Plan a goal."""
        planned = Planned()

        def record(event: Event) -> Event:
            planned.refused += isinstance(event, PlanRefused)
            if isinstance(event, PlanMade):
                planned.repaired, planned.by_rule = bool(event.repairs), bool(event.rule)
            return event

        try:
            planned.plan = await decompose(self.brief(goal), self.model, self.prompts, record)  # type: ignore[arg-type]
        except PlanError:
            planned.plan = None
        return planned

    def brief(self, goal: PlanGoal) -> Brief:
        """Return the brief for the decomposer."""
        if goal.tools:
            known = Known((), {name: tool["parameters"] for name, tool in goal.tools.items()})
            offered = [ToolSpec(name, tool["description"], tool["parameters"]) for name, tool in goal.tools.items()]
            listed = tool_listing.render(offered)
            about = {name: tool["description"] for name, tool in goal.tools.items()}
            most = self.profile.tool_candidates
            called = fitting_tools(goal.text, about, most) if most is not None else ()
            return Brief(goal.text, "<available_skills/>", listed, DATE, known, profile=self.profile, called=called)
        if not goal.skills:
            return Brief(goal.text, "<available_skills/>", "", DATE, Known(), profile=self.profile)
        workspace = self._workspace(goal)
        catalogue = workspace.catalogue(workspace.skills.request(goal.text))
        return Brief(
            goal=goal.text,
            skills=catalogue.skill_listing.replace(f"{workspace.paths.workspace}/", ""),  # the same text in every run
            tools="",
            date=DATE,
            known=Known(tuple(goal.skills)),
            names=tuple(selection.name for selection in catalogue.selections),
            profile=self.profile,
            skill_for=partial(workspace.best_skill, skills=catalogue.skills),
            certain=tuple(one.name for one in catalogue.selections if one.certain),
        )

    def _workspace(self, goal: PlanGoal) -> Workspace:
        if id(goal.skills) not in self._workspaces:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            for name, description in goal.skills.items():
                (folder / "skills" / name).mkdir(parents=True)
                text = f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\n"
                (folder / "skills" / name / "SKILL.md").write_text(text, encoding="utf-8")
            self._workspaces[id(goal.skills)] = Workspace(_paths(folder), Settings(skills_off=_bundled()))
        return self._workspaces[id(goal.skills)]


def _bundled() -> tuple[str, ...]:
    """Return the names of the skills that ship, which the sets do not use."""
    return tuple(sorted(folder.name for folder in LIBRARY.iterdir() if folder.is_dir()))


def _paths(folder: Path) -> Paths:
    return Paths(folder, folder / "goalwright.toml", folder / "cache", folder / "data")
