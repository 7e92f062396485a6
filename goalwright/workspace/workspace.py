"""A workspace: its skills, tools and prompts, as a goal finds them."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.settings import untrusted
from goalwright.workspace import mcp_prompts
from goalwright.workspace.builtin_tools import BuiltinTools, ToolPlace
from goalwright.workspace.fingerprints import Fingerprints
from goalwright.workspace.skills import WorkspaceSkills
from goalwright.workspace.tool_choice import McpChoice, choose
from goalwright.workspace.tools import WorkspaceTools, tool_name
from goalwright_planner.plan.known import Known
from goalwright_planner.prompting.prompts import Prompts
from goalwright_skills.builtin.tool_context import ShellRules, WebAccess
from goalwright_skills.discovery import listing
from goalwright_skills.discovery.needs import describe, needs
from goalwright_skills.discovery.registry import summary
from goalwright_skills.errors import SetupError
from goalwright_skills.selection import detectors
from goalwright_skills.selection.query import triggers
from goalwright_skills.skill import is_prompt
from goalwright_skills.tools import listing as tool_listing
from goalwright_skills.tools.disk_use import DiskLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright.workspace.goal_selection import GoalSelection
    from goalwright.workspace.mcp_prompts import PromptSkills
    from goalwright.workspace.tools import OwnTool
    from goalwright_planner.events import SkillPrint
    from goalwright_planner.model import Reply, Request
    from goalwright_skills.selection.detector import Selection, SkillDetector
    from goalwright_skills.selection.query.language import Foreign
    from goalwright_skills.skill import Skill
    from goalwright_skills.tools.tool import Tool


_DETECTOR_THREADS = 32
# The least score of a skill that is used without asking a model: it is about as likely right as wrong.
_LIKELY = 0.4


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills and tools offered for one goal.

    `skills` are all that the goal may use, best first; it uses the `manual` ones only if it names them. `capabilities`
    are those of the tasks. `foreign` are the languages of goal and skills, if they differ.
    """

    goal: GoalSelection
    skills: tuple[Skill, ...]
    selections: tuple[Selection, ...]
    manual: frozenset[str]
    skill_listing: str
    tool_listing: str
    known: Known
    capabilities: frozenset[str] = frozenset()
    foreign: Foreign | None = None
    warnings: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """The manual skills that the goal uses."""
        return self.manual.intersection(selection.name for selection in self.selections)

    @property
    def withheld(self) -> frozenset[str]:
        """The manual skills that the goal does not name."""
        return self.manual - self.named


class Workspace:
    """A workspace's skills, tools and prompts, read when a goal needs them.

    `use` replaces skills by files, `tools` are functions of the program. For a run that is `replayed`, they are all the
    functions that it was offered, whether or not they are still installed, and `gone` are skills that its plan may name
    though they no longer exist.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        use: Mapping[str, Path] | None = None,
        *,
        gone: Collection[str] = (),
        replayed: bool = False,
        tools: Sequence[OwnTool] = (),
    ) -> None:
        self.paths = paths
        self.settings = settings
        self.skills = WorkspaceSkills(paths, settings, use, [tool_name(tool) for tool in tools])
        self._gone = gone
        self._replayed = replayed
        # Neither detectors nor stemmers are thread-safe.
        self._selecting = threading.Lock()
        self._prompts: Prompts | None = None
        self.fingerprints = Fingerprints()
        self.tools = WorkspaceTools(
            paths,
            self.skills.registry,
            unsafe=settings.unsafe_tools,
            disk=DiskLimits(settings.max_artifact_mb, settings.max_artifact_files),
            own=tools,
            installed=not replayed,
            preferences=self.skills.preferences,
        )
        web = WebAccess(settings.allow_web, settings.web_proxy, settings.search)
        shell = ShellRules(settings.max_shell_seconds, settings.allow_network_hosts)
        self.builtin = BuiltinTools(self.skills, settings.tool_set, self.tools.trusts, web, shell)

    def prompts(self) -> Prompts:
        """Return the prompts: the workspace's own if trusted, the configured ones, then goalwright's."""
        if self._prompts is not None:
            return self._prompts
        base = self.paths.workspace  # relative paths are relative to the workspace, not the current folder
        configured = [base / Path(self.settings.seed).expanduser()] if self.settings.seed else []
        for folder in configured:
            if not folder.is_dir():
                raise SetupError(f"seed = {folder} is not a folder", hint="name a folder with templates, or unset it")
        # A replay needs no trust: it only compares texts, and sends and writes nothing.
        own = [base / untrusted.TEMPLATES] if self._replayed or self.tools.trust.trusts_templates(base) else []
        self._prompts = Prompts([*own, *configured])
        return self._prompts

    def catalogue(self, goal: GoalSelection, detector: SkillDetector | None = None) -> Catalogue:
        """Select the skills and tools for a goal with the configured detector, or another, and list them."""
        with self._selecting:
            return self._catalogue(goal, detector or self.skills.detector)

    def _catalogue(self, goal: GoalSelection, detector: SkillDetector) -> Catalogue:
        skills, pool = self.skills, self.skills.pool()
        prompts = mcp_prompts.rank(goal)
        selections = skills.select(goal, detector, pool)
        names = [selection.name for selection in selections]
        manual = frozenset(skill.name for skill in pool.manual)
        withheld = manual.difference(names)
        usable = [skill for skill in pool.active if skill.name not in withheld] if withheld else pool.active
        ranked = skills.rank(goal, detector, pool)
        ordered = _ordered([*names, *skills.preferences.pin, *(selection.name for selection in ranked)], usable)
        tools = self.tools.by_name(mcp=goal.mcp.tools)
        tool_set = self.settings.tool_set if goal.tool_set is None else goal.tool_set
        capabilities = self.tools.capabilities(tools) | self.builtin.capabilities(tool_set)
        return Catalogue(
            goal,
            skills=tuple(ordered),
            selections=(*selections, *prompts.selections),
            manual=manual,
            skill_listing=self._skill_listing(names, ordered, prompts, capabilities, goal.limit),
            tool_listing=tool_listing.render([*self.builtin.listed(tool_set), *tools.values()]),
            known=self._known([skill.name for skill in (*usable, *prompts.rows)], tools, tool_set),
            capabilities=capabilities,
            foreign=self._foreign(goal, usable) if detector is skills.ranked else None,
            warnings=(
                *summary(skills.registry.warnings),
                *skills.warnings,
                *self.tools.shadowed_programs(),
                *skills.name_warnings(goal, pool),
                *goal.mcp.warnings,
            ),
        )

    def _skill_listing(
        self,
        selected: Sequence[str],
        skills: Sequence[Skill],
        prompts: PromptSkills,
        capabilities: Collection[str],
        limit: int,
    ) -> str:
        return listing.render(
            [*selected, *(selection.name for selection in prompts.selections)],
            prompts.below(skills, limit),
            budget=listing.budget(os.environ),
            limit=limit,
            folders=[str(location.path) for location in self.skills.registry.locations],
            needs={skill.name: describe(needs(skill), capabilities) for skill in skills[:limit]},
            pinned=self.skills.preferences.pin,
        )

    def _foreign(self, goal: GoalSelection, skills: Sequence[Skill]) -> Foreign | None:
        """Return the languages of goal and skills, if they differ and the goal names no skill."""
        named = goal.names or triggers.named(goal.text, skills)
        return self.skills.foreign(goal.text, skills) if not named else None

    @cached_property
    def detector_threads(self) -> ThreadPoolExecutor:
        """A thread pool for detectors that wait for a model, so that they do not block other work."""
        return ThreadPoolExecutor(_DETECTOR_THREADS, "detector")

    def unlocked(self, ask: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
        """Wrap a call to a model within `catalogue` so that other goals can select meanwhile."""

        def call(request: Request) -> Reply:
            self._selecting.release()
            try:
                return ask(request)
            finally:
                self._selecting.acquire()

        return call

    def choose_mcp(self, goal: str, named: Collection[str] = ()) -> McpChoice:
        """Choose the tools and prompts of MCP servers for a goal, all `named` ones among them.

        Starts trusted servers whose list of tools is outdated.
        """
        return choose(goal, self.tools.mcp_offer(), named) if self.tools.has_mcp else McpChoice()

    def unmet(self, names: Sequence[str], capabilities: Collection[str]) -> dict[str, list[str]]:
        """Return what these skills need and tasks cannot do, by skill; skills whose needs are met are left out."""
        used = (skill for name in dict.fromkeys(names) if (skill := self.skills.registry.get(name)) is not None)
        unmet = {
            skill.name: [need.capability for need in needs(skill) if need.capability not in capabilities]
            for skill in used
        }
        return {name: missing for name, missing in unmet.items() if missing}

    def take_fingerprints(self, catalogue: Catalogue) -> tuple[SkillPrint, ...]:
        """Return the fingerprints of a catalogue's skills, by which a later replay finds changes."""
        shared = self.skills.registry.is_shared
        return self.fingerprints.take(catalogue.skills, catalogue.skill_listing, shared=shared)

    def best_skill(self, text: str, skills: Sequence[Skill]) -> str | None:
        """Return the skill that fits a part of a goal best, if it is likely enough; no model is asked."""
        asks_model = self.settings.detector == detectors.ASKING
        with self._selecting:
            detector = self.skills.ranked if asks_model else self.skills.detector
            selections = detector.detect(text, self.skills.preferences.selectable(skills))
        names = {skill.name for skill in skills}
        likely = (selection for selection in selections if selection.score >= _LIKELY)
        return next((selection.name for selection in likely if selection.name in names), None)

    def check(self, names: Sequence[str]) -> None:
        """Raise before a run starts if a requested skill is unknown or a prompt template is invalid."""
        self.prompts().check_overrides()
        if names or self.skills.use:
            files = [name for name in names if not is_prompt(name)] if self.tools.has_mcp or self._replayed else names
            self.skills.check(files, self.skills.active())
        if self.settings.detector != detectors.ASKING:
            _ = self.skills.detector

    def known(self, earlier: Collection[str] = ()) -> Known:
        """Return what a plan written by its user may refer to, with the reasons why other names cannot be used.

        `earlier` are tasks of earlier turns of a conversation.
        """
        offered = self.tools.mcp_offer(start=False).prompts if self.tools.has_mcp else ()
        names = [*(skill.name for skill in self.skills.active()), *(prompt.skill_name for prompt in offered)]
        known = self._known(names, self.tools.by_name(), self.settings.tool_set)
        return replace(known, absent=self.tools.absent, unusable=self.skills.unusable, earlier=earlier)

    def _known(self, skills: Sequence[str], tools: Mapping[str, Tool], tool_set: Sequence[str]) -> Known:
        all_tools = self.builtin.in_plans(tool_set) | dict(tools)
        parameters = {name: tool.parameters for name, tool in all_tools.items()}
        names = dict.fromkeys((*skills, *self._gone))
        settings = self.settings
        models = tuple(settings.models or ())
        return Known(list(names), parameters, settings.max_tasks, settings.max_grown, settings.max_depth, models)

    def task_tools(self, tool_set: Sequence[str], place: ToolPlace, tools: Mapping[str, Tool]) -> Sequence[Tool]:
        """Return the tools that the model of one task may call: the built-in ones of its run, and `tools`."""
        builtin = self.builtin.for_task(tool_set, place)
        return [*(tool for tool in builtin if tool.name not in tools), *tools.values()]


def _ordered(best: Sequence[str], skills: Sequence[Skill]) -> list[Skill]:
    """Return the skills with these names, then the others."""
    by_name = {skill.name: skill for skill in skills}
    names = dict.fromkeys((*best, *by_name))
    return [by_name[name] for name in names if name in by_name]
