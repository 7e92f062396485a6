"""Which tools a goal gets: of many tools and prompts of MCP servers, and for a small model, only the best ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.model import ToolSpec
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_skills.mcp.server_state import ToolOffer

# Every call of every task carries the schemas, which are long.
MOST_LISTED = 30


@dataclass(frozen=True, slots=True)
class McpChoice:
    """The tools of MCP servers for one goal, warnings about servers, and the prompts, which are offered as skills."""

    tools: tuple[ToolSpec, ...] = ()
    warnings: tuple[str, ...] = ()
    prompts: tuple[ToolSpec, ...] = ()


def choose(goal: str, offer: ToolOffer, named: Collection[str] = ()) -> McpChoice:
    """Choose the tools and prompts for a goal: all, or if there are more than 30, the named and the best ones."""
    tools = [ToolSpec(tool.name, tool.description, tool.offered_parameters) for tool in offer.tools]
    tool_texts = {tool.name: f"{tool.tool}: {tool.description}" for tool in offer.tools}
    prompts = [ToolSpec(prompt.skill_name, prompt.description, prompt.parameters) for prompt in offer.prompts]
    prompt_texts = {prompt.skill_name: f"{prompt.name}: {prompt.description}" for prompt in offer.prompts}
    always = {*named, *(name for name in prompt_texts if name in goal)}
    return McpChoice(_best(goal, tools, tool_texts, always), offer.warnings, _best(goal, prompts, prompt_texts, always))


def fitting_tools(goal: str, tools: Mapping[str, str], limit: int) -> tuple[str, ...]:
    """Return the best tools for a goal by their descriptions; none if no tool fits well enough to be selected."""
    from goalwright_skills.selection import detectors
    from goalwright_skills.selection.ranked import RankedDetector

    ranked = RankedDetector()
    rows = [Skill(name, f"{name}: {description}", "", "global") for name, description in tools.items()]
    if not ranked.detect(goal, rows):
        return ()
    return tuple(selection.name for selection in detectors.top(ranked, goal, rows, limit))


def _best(
    goal: str, specs: Sequence[ToolSpec], texts: Mapping[str, str], named: Collection[str]
) -> tuple[ToolSpec, ...]:
    if len(specs) <= MOST_LISTED:
        return tuple(specs)
    always = [spec for spec in specs if spec.name in named]
    chosen = [*always, *(spec for spec in _ranked(goal, specs, texts) if spec.name not in named)]
    return tuple(chosen[: max(MOST_LISTED, len(always))])


def _ranked(goal: str, specs: Sequence[ToolSpec], texts: Mapping[str, str]) -> list[ToolSpec]:
    """Rank tools like skills, by their names and descriptions."""
    from goalwright_skills.selection import detectors
    from goalwright_skills.selection.ranked import RankedDetector

    rows = [Skill(spec.name, texts[spec.name], "", "global") for spec in specs]
    by_name = {spec.name: spec for spec in specs}
    return [by_name[selection.name] for selection in detectors.top(RankedDetector(), goal, rows, MOST_LISTED)]
