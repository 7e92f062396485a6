"""Which tools and prompts of MCP servers a goal gets: all, or of many those that fit it best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.model import ToolSpec
from goalwright_skills.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_skills.mcp.server_state import ToolOffer

# Schemas are long: every call of every task would carry them.
MOST_LISTED = 30


@dataclass(frozen=True, slots=True)
class McpChoice:
    """The tools of MCP servers for one goal, warnings about servers, and the prompts, which are offered as skills."""

    tools: tuple[ToolSpec, ...] = ()
    warnings: tuple[str, ...] = ()
    prompts: tuple[ToolSpec, ...] = ()


def choose(goal: str, offer: ToolOffer, named: Collection[str] = ()) -> McpChoice:
    """The tools and prompts for a goal: those `named`, and all others or, of more than 30, the best."""
    tools = [ToolSpec(tool.name, tool.description, tool.offered_parameters) for tool in offer.tools]
    about = {tool.name: f"{tool.tool}: {tool.description}" for tool in offer.tools}
    prompts = [ToolSpec(prompt.skill_name, prompt.description, prompt.parameters) for prompt in offer.prompts]
    words = {prompt.skill_name: f"{prompt.name}: {prompt.description}" for prompt in offer.prompts}
    wanted = {*named, *(name for name in words if name in goal)}
    return McpChoice(_best(goal, tools, about, wanted), offer.warnings, _best(goal, prompts, words, wanted))


def _best(
    goal: str, specs: Sequence[ToolSpec], about: Mapping[str, str], named: Collection[str]
) -> tuple[ToolSpec, ...]:
    if len(specs) <= MOST_LISTED:
        return tuple(specs)
    always = [spec for spec in specs if spec.name in named]
    chosen = [*always, *(spec for spec in _ranked(goal, specs, about) if spec.name not in named)]
    return tuple(chosen[: max(MOST_LISTED, len(always))])


def _ranked(goal: str, specs: Sequence[ToolSpec], about: Mapping[str, str]) -> list[ToolSpec]:
    """Those that fit the goal best first: ranked as skills are, by what they are called and described."""
    from goalwright_skills.selection import detectors
    from goalwright_skills.selection.ranked import RankedDetector

    rows = [Skill(spec.name, about[spec.name], "", "global") for spec in specs]
    by_name = {spec.name: spec for spec in specs}
    return [by_name[selection.name] for selection in detectors.top(RankedDetector(), goal, rows, MOST_LISTED)]
