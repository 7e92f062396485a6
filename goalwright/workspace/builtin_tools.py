"""The built-in tools of a run: the recorded ones, as far as the user allows them now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.builtin import readable_roots, toolset
from goalwright_skills.builtin.tool_context import ShellRules, ToolContext, WebAccess
from goalwright_skills.builtin.toolset import narrowed, unknown
from goalwright_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_planner.plan.task import Task
    from goalwright_skills.builtin.writing.write_place import WritePlace
    from goalwright_skills.mcp.tools import McpPrompt
    from goalwright_skills.programs.executable import ToolHost
    from goalwright_skills.skill import Skill
    from goalwright_skills.tools.tool import Tool

_READING = ("Skill", "ReadFile", "ListFiles", "Grep")
# Plans use skills by their own action type.
_IN_PLANS = frozenset(tool.name for tool in toolset.TOOLS if tool.in_plans)


@dataclass(frozen=True, slots=True)
class ToolPlace:
    """The context of one task's tools: its skill, the listing of skills, the given files, the place to write.

    `host` runs programs. `loaded` are the skills that the task's model has loaded, `withheld` the skills that it may
    not load; `prompts` are prompts of MCP servers.
    """

    task: Task | None = None
    listing: str = ""
    files: Sequence[Path] = ()
    writing: WritePlace | None = None
    host: Callable[[], ToolHost] | None = None
    loaded: Callable[[], Sequence[str]] = tuple
    withheld: Collection[str] = ()
    prompts: Mapping[str, McpPrompt] = field(default_factory=dict)

    @property
    def artifacts(self) -> Path | None:
        """The run's artifacts."""
        return self.writing.artifacts if self.writing is not None else None


@dataclass(frozen=True, slots=True)
class WithheldTool:
    """A tool that the run was offered when it began, and that the user no longer allows."""

    tool: Tool

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    @property
    def description(self) -> str:
        """The tool's description."""
        return self.tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters as a JSON schema of type object."""
        return self.tool.parameters

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Refuse the call."""
        message = f"{self.name} is no longer allowed in this run: go on without it"
        return failure("ACCESS_DENIED", message, Context("", dict(arguments)))


@dataclass(frozen=True, slots=True)
class BuiltinTools:
    """Makes the built-in tools of a workspace: the `allowed` ones.

    `trusted` tells whether the user trusts a skill; `web` and `shell` limit web access and commands.
    """

    skills: WorkspaceSkills
    allowed: tuple[str, ...]
    trusted: Callable[[Skill], bool]
    web: WebAccess = field(default_factory=WebAccess)
    shell: ShellRules = field(default_factory=ShellRules)

    def for_task(self, offered: Sequence[str], place: ToolPlace) -> list[Tool]:
        """Return the tools of a task in the order of the record, as far as its skill allows them."""
        skill = self._skill_of(place.task)
        if skill is not None:
            offered = narrowed(offered, skill.extra)
        context = self._context(place)
        made = ((name, toolset.make(name, context)) for name in offered)
        withheld = toolset.missing(offered, self.allowed)
        return [WithheldTool(tool) if name in withheld else tool for name, tool in made if tool is not None]

    def in_plans(self, offered: Sequence[str]) -> dict[str, Tool]:
        """Return the tools that a plan may name, by name."""
        return {tool.name: tool for tool in self.for_task(offered, ToolPlace()) if tool.name in _IN_PLANS}

    def reading(self, place: ToolPlace) -> dict[str, Tool]:
        """Return the read-only tools that need neither a run nor a model, by name."""
        context = self._context(place)
        return {name: tool for name in _READING if (tool := toolset.make(name, context)) is not None}

    def listed(self, offered: Sequence[str]) -> list[Tool]:
        """Return the tools listed for a planner: those that the user has switched on."""
        return [tool for name, tool in self.in_plans(offered).items() if name in toolset.SETTINGS]

    def unknown_in(self, task: Task, others: Sequence[str]) -> list[str]:
        """Return the unknown names in `allowed-tools` of a task's skill."""
        skill = self._skill_of(task)
        return unknown(skill.extra, others) if skill is not None else []

    def capabilities(self, offered: Sequence[str]) -> frozenset[str]:
        """Return what tasks can do with these tools, independently of this machine."""
        return toolset.capabilities(offered)

    def _context(self, place: ToolPlace) -> ToolContext:
        return ToolContext(
            registry=self.skills.registry,
            roots=readable_roots.of(self.skills.registry, place.files, place.artifacts),
            skills_in_use=lambda: self._in_use(place),
            trusted=self.trusted,
            follows=_followed(place.task),
            listing=place.listing,
            writing=place.writing,
            host=place.host,
            web=self.web,
            shell=self.shell,
            withheld=place.withheld,
            prompts=place.prompts,
        )

    def _in_use(self, place: ToolPlace) -> list[Skill]:
        """Return the skill that a task follows, then the skills that its model has loaded."""
        names = dict.fromkeys((_followed(place.task), *place.loaded()))
        skills = (self.skills.registry.get(name) for name in names if name)
        return [skill for skill in skills if skill is not None and skill.kind == "context"]

    def _skill_of(self, task: Task | None) -> Skill | None:
        name = _followed(task)
        return self.skills.registry.get(name) if name else None


def _followed(task: Task | None) -> str:
    """Return the name of the skill that a task follows; empty without one."""
    return task.name or "" if task is not None and task.action_type == "skill" else ""
