"""What a goal meets in its workspace: skills, tools, prompts, and the detector that chooses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from planner.prompt import Prompts
from planner.validate import Known, nearest
from skills import detectors, listing
from skills.detector import Selection
from skills.errors import InputError, SetupError
from skills.files import ListFiles, ReadFile
from skills.registry import Registry, summary
from skills.roots import Roots
from skills.skill_tool import SkillTool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner.plan import Task
    from skills.detector import SkillDetector
    from skills.skill import Skill
    from skills.tool import Tool
    from weft.goal import Goal
    from weft.places import Places
    from weft.settings import Settings

_BUDGET = 12_000


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills and tools as they stand for one goal, those that fit it first."""

    skills: tuple[Skill, ...]
    selections: tuple[Selection, ...]
    skill_listing: str
    tool_listing: str
    known: Known
    warnings: tuple[str, ...] = ()


class Surroundings:
    """A workspace's skills and prompts, looked at when a goal needs them."""

    def __init__(self, places: Places, settings: Settings) -> None:
        self.places = places
        self.settings = settings
        self.registry = Registry(places.workspace, strict=settings.strict_skills, cache=places.cache)

    @cached_property
    def prompts(self) -> Prompts:
        """The prompts: the workspace's own before the configured ones before those that weft ships."""
        configured = [Path(self.settings.seed).expanduser()] if self.settings.seed else []
        for folder in configured:
            if not folder.is_dir():
                raise SetupError(f"seed = {folder} is no folder", hint="name a folder with templates, or unset it")
        return Prompts([self.places.agents / "seed", *configured])

    @cached_property
    def detector(self) -> SkillDetector:
        """The detector that the settings name."""
        return detectors.detector(self.settings.detector, cache=self.places.cache)

    def catalogue(self, goal: Goal) -> Catalogue:
        """Look at the skills, choose among them, and list them for the prompt."""
        skills = self.context_skills()
        selections = self.select(goal, skills)
        ordered = self._ordered(goal, selections, skills)
        names = [selection.name for selection in selections]
        return Catalogue(
            skills=tuple(ordered),
            selections=tuple(selections),
            skill_listing=listing.render(names, ordered, budget=self.listing_budget),
            tool_listing="<available_tools>\n</available_tools>",
            known=self.known(),
            warnings=tuple(summary(self.registry.warnings)),
        )

    def known(self) -> Known:
        """What a plan may use."""
        return Known([skill.name for skill in self.context_skills()], {}, self.settings.max_tasks)

    def context_skills(self) -> list[Skill]:
        """The skills with a SKILL.md, as they are now."""
        self.registry.refresh()
        return [skill for skill in self.registry.list_skills() if skill.kind == "context"]

    def select(self, goal: Goal, skills: Sequence[Skill]) -> list[Selection]:
        """The skills the person asked for, then those that the detector finds."""
        known = {skill.name for skill in skills}
        for name in goal.skills:
            if name not in known:
                raise InputError(f"there is no skill {name!r}; {nearest(name, sorted(known))}")
        asked = [Selection(name, 1.0, "asked for with --skill") for name in dict.fromkeys(goal.skills)]
        found = self.detector.detect(goal.text, skills)
        return [*asked, *(one for one in found if one.name not in goal.skills)]

    @property
    def listing_budget(self) -> int:
        """How many characters of listing a prompt gets."""
        text = os.environ.get("SKILLS_PROMPT_CHAR_BUDGET", "")
        return int(text) if text.isdigit() else _BUDGET

    def executable_tools(self, catalogue: Catalogue, artifacts: Path) -> Mapping[str, Tool]:
        """The tools that a plan may run, by name."""
        return {}

    def task_tools(
        self, task: Task, catalogue: Catalogue, tools: Mapping[str, Tool], files: Sequence[Path]
    ) -> Sequence[Tool]:
        """The tools that one task's model may call."""
        roots = Roots(self.places.workspace, lambda: [skill.base_dir for skill in self.registry.list_skills()], files)
        loaded = [task.name] if task.action_type == "skill" and task.name else []
        return [
            SkillTool(self.registry, stack=loaded, listing=catalogue.skill_listing),
            ReadFile(roots),
            ListFiles(roots),
            *tools.values(),
        ]

    def _ordered(self, goal: Goal, selections: Sequence[Selection], skills: Sequence[Skill]) -> list[Skill]:
        """The skills that were selected, then the next best, then the rest in their own order."""
        by_name = {skill.name: skill for skill in skills}
        best = detectors.top(self.detector, goal.text, skills, listing.MOST)
        names = dict.fromkeys((*(one.name for one in selections), *(one.name for one in best), *by_name))
        return [by_name[name] for name in names if name in by_name]
