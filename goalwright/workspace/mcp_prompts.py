"""Prompts of MCP servers as skills for a goal: named, or fitting; they rank below the skills of files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError
from goalwright_skills.selection.detector import Selection
from goalwright_skills.skill import Skill
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.workspace.goal_selection import GoalSelection
    from goalwright_planner.model import ToolSpec

# The fraction of a listing that is kept for prompts: one in this many.
_SHARE = 6


@dataclass(frozen=True, slots=True)
class PromptSkills:
    """Prompts as skills, best first, and the selected ones."""

    rows: tuple[Skill, ...] = ()
    selections: tuple[Selection, ...] = ()

    def below(self, skills: Sequence[Skill], limit: int) -> list[Skill]:
        """Merge a ranking of skills with the prompts, so that the best prompts end the first `limit` places."""
        places = max(limit - min(len(self.rows), max(limit // _SHARE, 1)), 0)
        return [*skills[:places], *self.rows[: limit - places], *skills[places:], *self.rows[limit - places :]]


def rank(goal: GoalSelection) -> PromptSkills:
    """Rank the prompts for a goal; raises InputError if it requests one that no server has."""
    prompts = goal.mcp.prompts
    known = [prompt.name for prompt in prompts]
    for name in goal.prompt_names:
        if name not in known:
            raise InputError(
                f"no trusted MCP server has the prompt {name!r}; prompts are: {nearest_names(name, known)}",
                hint="`goalwright mcp list` shows the servers, and `goalwright skills list` their prompts",
            )
    if not prompts:
        return PromptSkills()
    rows = {prompt.name: _skill(prompt) for prompt in prompts}
    reasons = dict.fromkeys(goal.prompt_names, "asked for by name")
    reasons |= {name: "the goal asks for it" for name in known if _is_named(name, goal.text) and name not in reasons}
    named = [Selection(name, 1.0, reason, certain=True) for name, reason in reasons.items()]
    fitting = [selection for selection in _fitting(goal.text, list(rows.values())) if selection.name not in reasons]
    order = dict.fromkeys((*reasons, *(selection.name for selection in fitting), *rows))
    return PromptSkills(tuple(rows[name] for name in order), (*named, *fitting))


def _fitting(goal: str, rows: Sequence[Skill]) -> list[Selection]:
    """Select prompts like skills; none is certain, since a server must not demand its use."""
    from goalwright_skills.selection.ranked import RankedDetector

    selections = RankedDetector().detect(goal, rows)
    return [Selection(selection.name, selection.score, selection.reason) for selection in selections]


def _is_named(name: str, goal: str) -> bool:
    return re.search(rf"(?<![\w:-]){re.escape(name)}(?![\w:-])", goal) is not None


def _skill(prompt: ToolSpec) -> Skill:
    properties, required = prompt.parameters.get("properties") or {}, prompt.parameters.get("required") or []
    names = [name if name in required else f"{name} (optional)" for name in properties]
    form = "as one object in JSON" if len(names) > 1 else "as text"
    arguments = f" Its arguments, {form}: {', '.join(names)}." if names else ""
    return Skill(prompt.name, f"{prompt.description}{arguments}", f"MCP server {prompt.name.split(':')[1]}", "global")
