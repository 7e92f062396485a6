"""A workspace: its skills, tools and prompts, as a goal finds them."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from goalwright.settings import untrusted
from goalwright.workspace import mcp_prompts
from goalwright.workspace.builtin_tools import BuiltinTools, ToolPlace
from goalwright.workspace.fingerprints import Fingerprints
from goalwright.workspace.mcp_choice import McpChoice, choose
from goalwright.workspace.skills import WorkspaceSkills
from goalwright.workspace.tools import WorkspaceTools, tool_name
from goalwright_planner.plan.validate import Known
from goalwright_planner.prompting.prompts import Prompts
from goalwright_skills.builtin.code.shell_rules import ShellRules
from goalwright_skills.builtin.web.web_access import WebAccess
from goalwright_skills.discovery import listing
from goalwright_skills.discovery.needs import needs, told
from goalwright_skills.discovery.registry import summary
from goalwright_skills.errors import SetupError
from goalwright_skills.selection import detectors
from goalwright_skills.selection.query import triggers
from goalwright_skills.tools import listing as tool_listing
from goalwright_skills.tools.disk_use import DiskLimits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright.workspace.blocking_model import Ask
    from goalwright.workspace.tools import OwnTool
    from goalwright_planner.events import SkillPrint
    from goalwright_planner.model import Reply, Request, ToolSpec
    from goalwright_skills.selection.detector import Selection, SkillDetector
    from goalwright_skills.selection.query.language import Foreign
    from goalwright_skills.skill import Skill
    from goalwright_skills.tools.tool import Tool


_DETECTOR_THREADS = 32
# The score from which a skill is used without a model that could leave it out: it is about as probably right as not.
_LIKELY = 0.4


class GoalText(Protocol):
    """What a workspace needs to know of a goal."""

    @property
    def text(self) -> str:
        """The goal's text."""

    @property
    def skills(self) -> Sequence[str]:
        """Skills that are requested by name."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills and tools for one goal, best first; `able` is what tasks can do with them.

    `foreign` are the languages of goal and skills, if they differ. `mcp` are the tools of MCP servers that its tasks
    may call, `prompts` their prompts, which its tasks may follow as skills. The plan must use the skills in `required`;
    those in `withheld` are used only by name, and the goal names none of them; those in `named` are too, and it does.
    """

    skills: tuple[Skill, ...]
    selections: tuple[Selection, ...]
    skill_listing: str
    tool_listing: str
    known: Known
    warnings: tuple[str, ...] = ()
    able: frozenset[str] = frozenset()
    foreign: Foreign | None = None
    mcp: tuple[ToolSpec, ...] = ()
    prompts: tuple[ToolSpec, ...] = ()
    required: tuple[str, ...] = ()
    withheld: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


class Workspace:
    """A workspace's skills, tools and prompts, read when a goal needs them.

    `use` replaces skills by files, `tools` are functions of the program. For a run that is `replayed`, they are all the
    functions that it was offered, whatever is installed now, and `gone` are skills that its plan may name though they
    no longer exist.
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
        """The workspace's own prompts if trusted, the configured ones, then goalwright's."""
        if self._prompts is not None:
            return self._prompts
        base = self.paths.workspace  # a relative path starts here, wherever the command is run
        configured = [base / Path(self.settings.seed).expanduser()] if self.settings.seed else []
        for folder in configured:
            if not folder.is_dir():
                raise SetupError(f"seed = {folder} is not a folder", hint="name a folder with templates, or unset it")
        # A replay needs no trust for them: it only compares texts, and sends and writes nothing.
        own = [base / untrusted.TEMPLATES] if self._replayed or self.tools.trust.trusts_templates(base) else []
        self._prompts = Prompts([*own, *configured])
        return self._prompts

    def catalogue(
        self,
        goal: GoalText,
        detector: SkillDetector | None = None,
        most: int = listing.MAX_SKILLS,
        *,
        offered: Sequence[str] | None = None,
        mcp: McpChoice | None = None,
        required: bool = True,
        begun: bool = False,
        nameable: Collection[str] | None = None,
    ) -> Catalogue:
        """Find the skills, select among them (with the configured detector, or another), and list them for the prompt.

        `offered` are the built-in tools of a recorded run, `mcp` the tools of MCP servers that the goal may use. Unless
        it is a sub-goal, its plan has to use the skills that are `required`. A run that has `begun` may have been asked
        for skills that are gone since. Of the skills that are used only by name, a sub-goal can name those that are
        `nameable`. One goal at a time: neither detectors nor stemmers are thread-safe.
        """
        offered = self.settings.tool_set if offered is None else offered
        chosen = self.settings.required_skills if required else ()
        with self._selecting:
            finder, servers = detector or self.skills.detector, mcp or McpChoice()
            return self._catalogue(goal, finder, most, offered, servers, chosen, begun=begun, nameable=nameable)

    @cached_property
    def detector_threads(self) -> ThreadPoolExecutor:
        """Threads of their own for detectors that call a model: they wait long, and others need a thread meanwhile."""
        return ThreadPoolExecutor(_DETECTOR_THREADS, "detector")

    def unlocked(self, ask: Ask) -> Ask:
        """A way to call a model from within `catalogue` that lets other goals select meanwhile."""

        def call(request: Request) -> Reply:
            self._selecting.release()
            try:
                return ask(request)
            finally:
                self._selecting.acquire()

        return call

    def choose_mcp(self, goal: str, named: Collection[str] = ()) -> McpChoice:
        """The tools of MCP servers for a goal; those `named` are always among them.

        Starts servers that are trusted and have no current list of tools.
        """
        return choose(goal, self.tools.mcp_offer(), named) if self.tools.has_mcp else McpChoice()

    def _catalogue(
        self,
        goal: GoalText,
        detector: SkillDetector,
        most: int,
        offered: Sequence[str],
        mcp: McpChoice,
        required: tuple[str, ...],
        *,
        begun: bool,
        nameable: Collection[str] | None,
    ) -> Catalogue:
        active, preferences = self.skills.active(), self.skills.preferences
        tools = self.tools.by_name(mcp=mcp.tools)
        forced, asked = mcp_prompts.split(goal.skills)
        forced = self.skills.still_called(forced, active) if begun else forced
        prompts = mcp_prompts.rank(goal.text, asked, mcp.prompts)
        selections = self.skills.select(goal.text, forced, active, detector, required=required, nameable=nameable)
        best = self.skills.best(goal.text, active, most, detector, nameable=nameable)
        names = [selection.name for selection in selections]
        by_name_only = frozenset(skill.name for skill in self.skills.split(active).by_name_only)
        withheld = by_name_only.difference(names)
        skills = [skill for skill in active if skill.name not in withheld] if withheld else active
        ordered = _ordered([*names, *preferences.pin, *(selection.name for selection in best)], skills)
        folders = [str(location.path) for location in self.skills.registry.locations]
        able = self.tools.capabilities(tools) | self.builtin.capabilities(offered)
        listed = ordered[:most]
        return Catalogue(
            skills=tuple(ordered),
            selections=(*selections, *prompts.selections),
            skill_listing=listing.render(
                [*names, *(one.name for one in prompts.selections)],
                prompts.below(ordered, most),
                budget=listing.budget(os.environ),
                limit=most,
                folders=folders,
                needs={skill.name: told(needs(skill), able) for skill in listed},
                pinned=preferences.pin,
            ),
            tool_listing=tool_listing.render([*self.builtin.listed(offered), *tools.values()]),
            known=self._known([skill.name for skill in (*skills, *prompts.rows)], tools, offered),
            warnings=(
                *summary(self.skills.registry.warnings),
                *self.skills.warnings,
                *self.tools.shadowed_programs(),
                *self.skills.named_in_vain(goal.text, active),
                *self.skills.unnameable(goal.text, active, nameable),
                *mcp.warnings,
            ),
            able=able,
            foreign=self._foreign(goal, skills) if detector is self.skills.ranked else None,
            mcp=mcp.tools,
            prompts=mcp.prompts,
            required=required,
            withheld=withheld,
            named=by_name_only - withheld,
        )

    def _foreign(self, goal: GoalText, skills: Sequence[Skill]) -> Foreign | None:
        """The languages of goal and skills, if they differ and the goal names no skill."""
        named = goal.skills or triggers.named(goal.text, skills)
        return self.skills.foreign(goal.text, skills) if not named else None

    def unmet(self, names: Sequence[str], able: Collection[str]) -> dict[str, list[str]]:
        """Of these skills, those that need what tasks are not able to do, with what they need."""
        used = (skill for name in dict.fromkeys(names) if (skill := self.skills.registry.get(name)) is not None)
        unmet = {skill.name: [need.what for need in needs(skill) if need.what not in able] for skill in used}
        return {name: missing for name, missing in unmet.items() if missing}

    def take_fingerprints(self, catalogue: Catalogue) -> tuple[SkillPrint, ...]:
        """The fingerprints of a catalogue's skills, by which a later replay tells which have changed."""
        shared = self.skills.registry.is_shared
        return self.fingerprints.take(catalogue.skills, catalogue.skill_listing, shared=shared)

    def best_skill(self, text: str, skills: Sequence[Skill]) -> str | None:
        """The skill that fits a part of a goal best, if one probably does: no model is asked whether it does."""
        asks = self.settings.detector == detectors.ASKING
        with self._selecting:
            finder = self.skills.ranked if asks else self.skills.detector
            selections = finder.detect(text, self.skills.preferences.selectable(skills))
        names = {skill.name for skill in skills}
        likely = (selection for selection in selections if selection.score >= _LIKELY)
        return next((selection.name for selection in likely if selection.name in names), None)

    def certain(self, goal: GoalText) -> tuple[str, ...]:
        """The skills that a plan for the goal has to use; no model is asked."""
        with self._selecting:
            found = self.skills.select(goal.text, goal.skills, self.skills.active(), self.skills.ranked)
        return tuple(selection.name for selection in found if selection.certain)

    def check(self, goal: GoalText) -> None:
        """Raise before a run starts if the goal requests an unknown skill or a prompt cannot be used."""
        self.prompts().check_overrides()
        if goal.skills or self.skills.use:  # else there is nothing to look up
            forced = mcp_prompts.split(goal.skills)[0] if self.tools.has_mcp or self._replayed else goal.skills
            self.skills.check(forced, self.skills.active())
        if self.settings.detector != detectors.ASKING:
            _ = self.skills.detector

    def known(self, earlier: Collection[str] = ()) -> Known:
        """What a plan may use, and why it may not use the rest: its author can change that, a model could not.

        `earlier` are tasks of earlier turns of a conversation that it may refer to.
        """
        offered = self.tools.mcp_offer(start=False).prompts if self.tools.has_mcp else ()
        names = [*(skill.name for skill in self.skills.active()), *(prompt.skill_name for prompt in offered)]
        known = self._known(names, self.tools.by_name(), self.settings.tool_set)
        return replace(known, absent=self.tools.absent, unusable=self.skills.unusable, earlier=earlier)

    def _known(self, skills: Sequence[str], tools: Mapping[str, Tool], offered: Sequence[str]) -> Known:
        every = self.builtin.in_plans(offered) | dict(tools)
        parameters = {name: tool.parameters for name, tool in every.items()}
        names = dict.fromkeys((*skills, *self._gone))
        settings = self.settings
        models = tuple(settings.models or ())
        return Known(list(names), parameters, settings.max_tasks, settings.max_grown, settings.max_depth, models)

    def task_tools(self, offered: Sequence[str], place: ToolPlace, tools: Mapping[str, Tool]) -> Sequence[Tool]:
        """The tools that one task's model may call: the built-in ones of its run, and these."""
        builtin = self.builtin.for_task(offered, place)
        return [*(tool for tool in builtin if tool.name not in tools), *tools.values()]


def _ordered(best: Sequence[str], skills: Sequence[Skill]) -> list[Skill]:
    """The skills of these names, then the rest in their order."""
    by_name = {skill.name: skill for skill in skills}
    names = dict.fromkeys((*best, *by_name))
    return [by_name[name] for name in names if name in by_name]
