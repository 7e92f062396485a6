"""What a goal meets in its workspace: skills, tools, prompts."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from planner.plan.validate import Known
from planner.prompting.prompts import Prompts
from skills.builtin import readable_roots
from skills.builtin.file_tools import ListFiles, ReadFile
from skills.builtin.skill_tool import SkillTool
from skills.discovery import listing
from skills.discovery.registry import summary
from skills.errors import SetupError
from skills.selection import detectors
from skills.tools import listing as tool_listing
from weft.workspace.skills import WorkspaceSkills
from weft.workspace.tools import WorkspaceTools

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from planner.model import Reply, Request
    from planner.plan.plan import Task
    from skills.selection.detector import Selection, SkillDetector
    from skills.skill import Skill
    from skills.tools.tool import Tool
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings
    from weft.workspace.blocking_model import Ask


_ASKERS = 32


class GoalText(Protocol):
    """As much of a goal as a workspace needs to know."""

    @property
    def text(self) -> str:
        """What to reach."""

    @property
    def skills(self) -> Sequence[str]:
        """Skills that were asked for by name."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills and tools as they stand for one goal, those that fit it first."""

    skills: tuple[Skill, ...]
    selections: tuple[Selection, ...]
    skill_listing: str
    tool_listing: str
    known: Known
    warnings: tuple[str, ...] = ()


class Workspace:
    """A workspace's skills, tools and prompts, looked at when a goal needs them.

    `use` puts files in the place of skills; `gone` are skills that a plan may name though they are not there.
    `portable` keeps the listing the same however long the workspace's path is, for a replay.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        use: Mapping[str, Path] | None = None,
        *,
        gone: Collection[str] = (),
        portable: bool = False,
    ) -> None:
        self.paths = paths
        self.settings = settings
        self.skills = WorkspaceSkills(paths, settings, use)
        self._gone = gone
        self._portable = portable
        self._one_at_a_time = threading.Lock()
        self.tools = WorkspaceTools(paths, self.skills.registry, unsafe=settings.unsafe_tools)

    @cached_property
    def prompts(self) -> Prompts:
        """The prompts: the workspace's own before the configured ones before those that weft ships."""
        workspace = self.paths.workspace  # where a relative path begins, wherever the command is given
        configured = [workspace / Path(self.settings.seed).expanduser()] if self.settings.seed else []
        for folder in configured:
            if not folder.is_dir():
                raise SetupError(f"seed = {folder} is no folder", hint="name a folder with templates, or unset it")
        return Prompts([self.paths.agents / "seed", *configured])

    def catalogue(self, goal: GoalText, detector: SkillDetector | None = None) -> Catalogue:
        """Look at the skills, choose among them (by the settings' detector, or another), list them for the prompt.

        One goal at a time: neither detectors nor stemmers are made for several threads.
        """
        with self._one_at_a_time:
            return self._catalogue(goal, detector or self.skills.detector)

    @cached_property
    def askers(self) -> ThreadPoolExecutor:
        """Threads for goals whose detector asks a model: they wait long, and must not keep others from a thread."""
        return ThreadPoolExecutor(_ASKERS, "asking")

    def meanwhile(self, ask: Ask) -> Ask:
        """A way to ask a model from within `catalogue`, during which other goals have their turn."""

        def asking(request: Request) -> Reply:
            self._one_at_a_time.release()
            try:
                return ask(request)
            finally:
                self._one_at_a_time.acquire()

        return asking

    def _catalogue(self, goal: GoalText, chooser: SkillDetector) -> Catalogue:
        skills = self.skills.active()
        tools = self.tools.by_name()
        selections = self.skills.select(goal.text, goal.skills, skills, chooser)
        best = self.skills.best(goal.text, skills, listing.MOST, chooser)
        ordered = _ordered([*selections, *best], skills)
        names = [selection.name for selection in selections]
        folders = [str(location.path) for location in self.skills.registry.locations]
        return Catalogue(
            skills=tuple(ordered),
            selections=tuple(selections),
            skill_listing=listing.render(
                names, ordered, budget=listing.budget(os.environ), folders=folders, portable=self._portable
            ),
            tool_listing=tool_listing.render(list(tools.values())),
            known=self._known(skills, tools),
            warnings=tuple(summary(self.skills.registry.warnings)),
        )

    def check(self, goal: GoalText) -> None:
        """Raise where the goal asks for what is not there or a prompt cannot be used, before there is a run of it."""
        self.prompts.check()
        self.skills.check(goal.skills, self.skills.active())
        if self.settings.detector != detectors.ASKING:
            _ = self.skills.detector

    def known(self) -> Known:
        """What a plan may use."""
        return self._known(self.skills.active(), self.tools.by_name())

    def _known(self, skills: Sequence[Skill], tools: Mapping[str, Tool]) -> Known:
        parameters = {name: tool.parameters for name, tool in tools.items()}
        names = dict.fromkeys((*(skill.name for skill in skills), *self._gone))
        return Known(list(names), parameters, self.settings.max_tasks)

    def task_tools(
        self, task: Task, catalogue: Catalogue, tools: Mapping[str, Tool], files: Sequence[Path]
    ) -> Sequence[Tool]:
        """The tools that one task's model may call."""
        visible = readable_roots.of(self.skills.registry, files)
        loaded = [task.name] if task.action_type == "skill" and task.name else []
        return [
            SkillTool(self.skills.registry, stack=loaded, listing=catalogue.skill_listing),
            ReadFile(visible),
            ListFiles(visible),
            *tools.values(),
        ]


def _ordered(best: Sequence[Selection], skills: Sequence[Skill]) -> list[Skill]:
    """The best skills, then the rest in their own order."""
    by_name = {skill.name: skill for skill in skills}
    names = dict.fromkeys((*(one.name for one in best), *by_name))
    return [by_name[name] for name in names if name in by_name]
