"""The request to select skills and tools for one goal."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalwright.workspace.tool_choice import McpChoice
from goalwright_skills.discovery.listing import MAX_SKILLS
from goalwright_skills.skill import is_prompt


@dataclass(frozen=True, slots=True)
class GoalSelection:
    """A goal's text, the skills requested by name, and what its run allows.

    `required` skills are always selected. A sub-goal can name only the manual skills in `nameable`; None allows all. A
    run that has `begun` may have requested skills that no longer exist. `tool_set` are the built-in tools of a recorded
    run, `mcp` the tools and prompts of MCP servers. At most `limit` skills are listed.
    """

    text: str
    names: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    nameable: frozenset[str] | None = None
    begun: bool = False
    tool_set: tuple[str, ...] | None = None
    mcp: McpChoice = field(default_factory=McpChoice)
    limit: int = MAX_SKILLS

    @property
    def skill_names(self) -> list[str]:
        """The requested skills that are files."""
        return [name for name in self.names if not is_prompt(name)]

    @property
    def prompt_names(self) -> list[str]:
        """The requested prompts of MCP servers."""
        return [name for name in self.names if is_prompt(name)]
