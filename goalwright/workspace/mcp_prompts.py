"""Prompts of MCP servers among the skills of a goal: by name or because they fit, and always below those of files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError
from goalwright_skills.selection.detector import Selection
from goalwright_skills.skill import Skill, is_prompt
from goalwright_skills.text.nearest import nearest_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.model import ToolSpec

# Of the places in a listing of skills, this share is for prompts that were not selected.
_SHARE = 6


@dataclass(frozen=True, slots=True)
class PromptSkills:
    """Prompts as skills, best first, and those of them that are selected."""

    rows: tuple[Skill, ...] = ()
    selections: tuple[Selection, ...] = ()

    def below(self, skills: Sequence[Skill], most: int) -> list[Skill]:
        """The skills of a listing with `most` places: those of files first, the best prompts last among them."""
        places = max(most - min(len(self.rows), max(most // _SHARE, 1)), 0)
        return [*skills[:places], *self.rows[: most - places], *skills[places:], *self.rows[most - places :]]


def rank(goal: str, forced: Sequence[str], prompts: Sequence[ToolSpec]) -> PromptSkills:
    """The prompts for a goal; raises InputError if one is asked for that no server has."""
    known = [prompt.name for prompt in prompts]
    for name in forced:
        if name not in known:
            what = f"no trusted MCP server has the prompt {name!r}; prompts are: {nearest_names(name, known)}"
            raise InputError(
                what, hint="`goalwright mcp list` shows the servers, and `goalwright skills list` their prompts"
            )
    if not prompts:
        return PromptSkills()
    rows = {prompt.name: _skill(prompt) for prompt in prompts}
    asked = dict.fromkeys(forced, "asked for by name")
    asked |= {name: "the goal asks for it" for name in known if _is_named(name, goal) and name not in asked}
    named = [Selection(name, 1.0, why, certain=True) for name, why in asked.items()]
    fitting = [one for one in _fitting(goal, list(rows.values())) if one.name not in asked]
    order = dict.fromkeys((*asked, *(one.name for one in fitting), *rows))
    return PromptSkills(tuple(rows[name] for name in order), (*named, *fitting))


def split(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of skills of files, and those of prompts."""
    return [name for name in names if not is_prompt(name)], [name for name in names if is_prompt(name)]


def _fitting(goal: str, rows: Sequence[Skill]) -> list[Selection]:
    """Those that fit the goal, as skills are ranked; a server cannot demand that one is used, so none is certain."""
    from goalwright_skills.selection.ranked import RankedDetector

    found = RankedDetector().detect(goal, rows)
    return [Selection(one.name, one.score, one.reason) for one in found]


def _is_named(name: str, goal: str) -> bool:
    return re.search(rf"(?<![\w:-]){re.escape(name)}(?![\w:-])", goal) is not None


def _skill(prompt: ToolSpec) -> Skill:
    takes, needs = prompt.parameters.get("properties") or {}, prompt.parameters.get("required") or []
    told = [name if name in needs else f"{name} (optional)" for name in takes]
    form = "as one object in JSON" if len(told) > 1 else "as text"
    arguments = f" Its arguments, {form}: {', '.join(told)}." if told else ""
    return Skill(prompt.name, f"{prompt.description}{arguments}", f"MCP server {prompt.name.split(':')[1]}", "global")
