"""The built-in tools of a run: those that its record names, as far as the user allows them now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills.builtin import readable_roots, toolset
from skills.builtin.file_tools import ListFiles, ReadFile
from skills.builtin.skill_tool import SkillTool
from skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from planner.plan.plan import Task
    from skills.builtin.writing.tools import WritePlace
    from skills.tools.tool import Tool
    from weft.workspace.skills import WorkspaceSkills

# A plan has its own ways to use skills.
_NOT_IN_PLANS = ("Skill",)


@dataclass(frozen=True, slots=True)
class ToolPlace:
    """What the tools of one task work with: its skill, the listing of skills, given files, where the run writes."""

    task: Task | None = None
    listing: str = ""
    files: Sequence[Path] = ()
    writing: WritePlace | None = None

    @property
    def artifacts(self) -> Path | None:
        """The run's artifacts."""
        return self.writing.artifacts if self.writing is not None else None


@dataclass(frozen=True, slots=True)
class WithheldTool:
    """A tool that the run was offered when it began, and that the user does not allow now."""

    tool: Tool

    @property
    def name(self) -> str:
        """The name by which it is called."""
        return self.tool.name

    @property
    def description(self) -> str:
        """What it does."""
        return self.tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters as a JSON schema of type object."""
        return self.tool.parameters

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Refuse it."""
        what = f"{self.name} is not allowed in this run any more — go on without it"
        return failure("ACCESS_DENIED", what, Context("", dict(arguments)))


@dataclass(frozen=True, slots=True)
class BuiltinTools:
    """Makes the built-in tools of a workspace; `allowed` is the set that the user allows."""

    skills: WorkspaceSkills
    allowed: tuple[str, ...]

    def for_task(self, offered: Sequence[str], place: ToolPlace) -> list[Tool]:
        """The tools that a task is offered, in the order of the record."""
        made = ((name, self._make(name, place)) for name in offered)
        withheld = toolset.missing(offered, self.allowed)
        return [WithheldTool(tool) if name in withheld else tool for name, tool in made if tool is not None]

    def in_plans(self, offered: Sequence[str]) -> dict[str, Tool]:
        """The tools that a plan may name, by name; runs of before the set was recorded had none."""
        if tuple(offered) == toolset.EARLIER:
            return {}
        return {tool.name: tool for tool in self.for_task(offered, ToolPlace()) if tool.name not in _NOT_IN_PLANS}

    def listed(self, offered: Sequence[str]) -> list[Tool]:
        """The tools that a planner is told of: those that the user has switched on."""
        return [tool for name, tool in self.in_plans(offered).items() if name in toolset.OPTIONAL.values()]

    def _make(self, name: str, place: ToolPlace) -> Tool | None:
        """A tool by its key; None if this version does not know it."""
        visible = readable_roots.of(self.skills.registry, place.files, place.artifacts)
        match name:
            case "Skill":
                task = place.task
                loaded = [task.name] if task is not None and task.action_type == "skill" and task.name else []
                return SkillTool(self.skills.registry, stack=loaded, listing=place.listing)
            case "ReadFile":
                return ReadFile(visible)
            case "ListFiles@1":
                return ListFiles(visible)
            case "ListFiles" | "Grep":
                from skills.builtin.search import tools as search

                return search.Grep(visible) if name == "Grep" else search.ListFilesGlob(visible)
            case "WriteFile" | "EditFile":
                from skills.builtin.writing import tools as writing

                return (writing.WriteFile if name == "WriteFile" else writing.EditFile)(place.writing)
            case _:
                return None
