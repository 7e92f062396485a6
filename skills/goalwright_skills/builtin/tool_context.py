"""What a run gives its built-in tools."""

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
    """How many seconds a command may take at most, and the hosts that it may reach."""

    most_seconds: int = 600
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The hosts that may be read, through a `proxy` only if that is set, and where the web is searched."""

    hosts: tuple[str, ...] = ()
    proxy: bool = False
    search: SearchProvider | None = None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What the tools of one task can use; a planner sees tools that have neither `writing` nor a `host`.

    `roots` may be read, and files are written as `writing` says. `host` runs programs. `follows` is the skill that the
    task follows, `listing` what its model is told of skills, `skills_in_use` are those that it follows or has loaded,
    `withheld` those that it may not load; `trusted` says whether the scripts of one may run. `web` is what they may
    read and search, `shell` what commands may do. `prompts` are those of MCP servers, which are loaded as skills are.
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
