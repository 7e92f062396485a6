"""The listing of skills that a model sees: metadata only, the selected first, within a budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from skills.skill import Skill

BUDGET = 12_000
MOST = 30
_SHORTEST = 60
_LONGEST = 1_024
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def budget(env: Mapping[str, str]) -> int:
    """How many characters the environment grants the listing; the usual number where it names none."""
    text = env.get("SKILLS_PROMPT_CHAR_BUDGET", "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else BUDGET


def render(selected: Collection[str], skills: Sequence[Skill], *, budget: int = BUDGET, most: int = MOST) -> str:
    """`<available_skills>` with the best skills; descriptions are shortened before skills are dropped.

    `skills` come best first; those whose names are `selected` are put before the others and marked.
    """
    chosen = [skill for skill in skills if skill.name in selected]
    ordered = [*chosen, *(skill for skill in skills if skill.name not in selected)]
    shown = ordered[:most]
    while True:
        width = _width(shown, selected, len(ordered), budget)
        if width is not None or not shown:
            return _block(shown, selected, len(ordered), width or _SHORTEST)
        shown = shown[:-1]


def _width(shown: Sequence[Skill], selected: Collection[str], total: int, budget: int) -> int | None:
    """The most characters that each description may have; None where even the shortest are too long."""
    if len(_block(shown, selected, total, _SHORTEST)) > budget:
        return None
    low, high = _SHORTEST, _LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(_block(shown, selected, total, middle)) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _block(shown: Sequence[Skill], selected: Collection[str], total: int, width: int) -> str:
    lines = ["<available_skills>"]
    lines += [_item(skill, marked=skill.name in selected, width=width) for skill in shown]
    left = total - len(shown)
    if left:
        lines.append(f"{left} more {'skill is' if left == 1 else 'skills are'} left out of this list.")
    return "\n".join([*lines, "</available_skills>"])


def _item(skill: Skill, *, marked: bool, width: int) -> str:
    mark = "\n<selected>true</selected>" if marked else ""
    return (
        f"<skill>\n<name>{_safe(skill.name)}</name>\n"
        f"<description>{_safe(shorten(skill.description, width))}</description>\n"
        f"<location>{_safe(str(skill.path))}</location>{mark}\n</skill>"
    )


def shorten(text: str, width: int) -> str:
    """The text in one line, cut at a word's end where it is too long."""
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    cut = text[: width - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > width // 2 else cut).rstrip(" ,;:.") + "…"


def _safe(text: str) -> str:
    return _CONTROL.sub("", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
