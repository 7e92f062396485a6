"""Which tools of MCP servers a goal gets: all, or of many those that fit it best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft_planner.model import ToolSpec
from weft_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from weft_skills.mcp.servers import ToolOffer
    from weft_skills.mcp.tool_list import ListedTool

# Schemas are long: every call of every task would carry them.
MOST_LISTED = 30


@dataclass(frozen=True, slots=True)
class McpChoice:
    """The tools of MCP servers for one goal, and warnings about servers."""

    tools: tuple[ToolSpec, ...] = ()
    warnings: tuple[str, ...] = ()


def choose(goal: str, offer: ToolOffer, named: Collection[str] = ()) -> McpChoice:
    """The tools for a goal: those `named`, and all others or, of more than 30, the best."""
    chosen: Sequence[ListedTool] = offer.tools
    if len(chosen) > MOST_LISTED:
        always = [tool for tool in chosen if tool.name in named]
        chosen = [*always, *(tool for tool in _ranked(goal, offer.tools) if tool.name not in named)]
        chosen = chosen[: max(MOST_LISTED, len(always))]
    return McpChoice(
        tuple(ToolSpec(tool.name, tool.description, tool.offered_parameters) for tool in chosen), offer.warnings
    )


def _ranked(goal: str, tools: Sequence[ListedTool]) -> list[ListedTool]:
    """The tools, those that fit the goal best first: ranked as skills are, by what they are called and described."""
    from weft_skills.selection import detectors
    from weft_skills.selection.ranked import RankedDetector

    rows = [Skill(tool.name, f"{tool.tool}: {tool.description}", "", "global") for tool in tools]
    by_name = {tool.name: tool for tool in tools}
    return [by_name[selection.name] for selection in detectors.top(RankedDetector(), goal, rows, MOST_LISTED)]
