"""The values that a run passes to its built-in tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from goalwright_skills.builtin.readable_roots import ReadableRoots
    from goalwright_skills.builtin.web.search_provider import SearchProvider
    from goalwright_skills.builtin.writing.write_place import WritePlace
    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.mcp.tools import McpPrompt
    from goalwright_skills.programs.executable import ToolHost
    from goalwright_skills.skill import Skill


@dataclass(frozen=True, slots=True)
class ShellRules:
    """The longest timeout of a command, and the hosts that it may reach."""

    max_seconds: int = 600
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The hosts that may be read, whether a proxy is allowed, and the search provider."""

    hosts: tuple[str, ...] = ()
    proxy: bool = False
    search: SearchProvider | None = None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of one task's tools; a planner's tools have neither `writing` nor a `host`.

    `roots` are the readable folders, `writing` is the place to write, `host` runs programs. `follows` names the task's
    skill, `listing` is the list of skills for its model, `skills_in_use` returns the skills that it follows or has
    loaded, `withheld` names the skills that it may not load, and `trusted` tells whether a skill's scripts may run.
    `web` and `shell` limit web access and commands. `prompts` are prompts of MCP servers, loaded like skills.
    """

    registry: Registry
    roots: ReadableRoots
    skills_in_use: Callable[[], Sequence[Skill]]
    trusted: Callable[[Skill], bool]
    follows: str = ""
    listing: str = ""
    writing: WritePlace | None = None
    host: Callable[[], ToolHost] | None = None
    web: WebAccess = field(default_factory=WebAccess)
    shell: ShellRules = field(default_factory=ShellRules)
    withheld: Collection[str] = ()
    prompts: Mapping[str, McpPrompt] = field(default_factory=dict)

    @property
    def artifacts(self) -> Path | None:
        """The run's artifacts."""
        return self.writing.artifacts if self.writing is not None else None
