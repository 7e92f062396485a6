"""Renders the listing of skills for a model: metadata only, selected skills first, within a budget."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from goalwright_skills import switches
from goalwright_skills.text.formatting import cut, escape, one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_skills.skill import Skill

BUDGET = 12_000
MAX_SKILLS = 30
# Every location counts as this long, so that the listing does not depend on the path of a checkout.
FOLDER = 80
_MIN_DESCRIPTION = 60
_MAX_DESCRIPTION = 1_024
_SKILL = re.compile(r"^<name>(.*)</name>\n<description>(.*)</description>$", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def budget(env: Mapping[str, str]) -> int:
    """Return the listing's budget of characters, from the environment or by default."""
    characters = switches.count(env.get(switches.BUDGET, ""))
    return BUDGET if characters is None else characters


def render(
    selected: Collection[str],
    skills: Sequence[Skill],
    *,
    budget: int = BUDGET,
    limit: int = MAX_SKILLS,
    folders: Sequence[str] = (),
    needs: Mapping[str, str] | None = None,
    pinned: Collection[str] = (),
) -> str:
    """Render `<available_skills>` with the best skills; descriptions are shortened before skills are dropped.

    `skills` are ordered best first. The `selected` skills move to the front and are marked; the `pinned` skills follow,
    and are neither shortened nor dropped to fit the budget. `folders` are the locations of the skills; the same skills
    in other folders give the same listing. `needs` maps names of skills to a description of their needs.
    """
    first = {*selected, *pinned}
    front = sorted((skill for skill in skills if skill.name in first), key=lambda skill: skill.name not in selected)
    ordered = [*front, *(skill for skill in skills if skill.name not in first)]
    notes = needs or {}
    items = [
        _Item.of(
            skill,
            _spare(skill.file, folders),
            marked=skill.name in selected,
            pinned=skill.name in pinned,
            needs=notes.get(skill.name, ""),
        )
        for skill in ordered[:limit]
    ]
    while _length(items, len(ordered), _MIN_DESCRIPTION) > budget and _drop_last(items):
        pass
    width = _width(items, len(ordered), budget)
    lines = ["<available_skills>", *(item.text(width) for item in items)]
    return "\n".join([*lines, *_left_out(items, len(ordered)), "</available_skills>"])


@dataclass(frozen=True, slots=True)
class _Item:
    """A skill's entry, whose description is still to be cut to a width.

    The description of a pinned skill is only cut at the size of a whole listing. `spare` is room reserved for its path.
    """

    before: str
    description: str
    after: str
    spare: int
    pinned: bool = False

    @classmethod
    def of(cls, skill: Skill, spare: int, *, marked: bool, pinned: bool, needs: str = "") -> _Item:
        mark = "\n<selected>true</selected>" if marked else ""
        note = f"\n<needs>{escape(needs)}</needs>" if needs else ""
        return cls(
            f"<skill>\n<name>{escape(_clean(skill.name))}</name>\n<description>",
            _clean(one_line(skill.description)),
            f"</description>\n<location>{escape(_clean(skill.file))}</location>{note}{mark}\n</skill>",
            spare,
            pinned,
        )

    def text(self, width: int) -> str:
        return f"{self.before}{escape(cut(self.description, self._width(width)))}{self.after}"

    def length(self, width: int) -> int:
        return len(self.before) + _shown_length(self.description, self._width(width)) + len(self.after) + self.spare

    def _width(self, width: int) -> int:
        return BUDGET if self.pinned else width


def _drop_last(items: list[_Item]) -> bool:
    """Drop the last skill that is not pinned; returns whether there was one."""
    last = next((number for number in reversed(range(len(items))) if not items[number].pinned), None)
    if last is not None:
        del items[last]
    return last is not None


def _width(items: Sequence[_Item], total: int, budget: int) -> int:
    """Return the greatest length of descriptions that fits the budget, but at least the minimum."""
    if _length(items, total, _MAX_DESCRIPTION) <= budget:
        return _MAX_DESCRIPTION
    low, high = _MIN_DESCRIPTION, _MAX_DESCRIPTION - 1
    while low < high:
        middle = (low + high + 1) // 2
        fits = _length(items, total, middle) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _length(items: Sequence[_Item], total: int, width: int) -> int:
    lines = ["<available_skills>", *_left_out(items, total), "</available_skills>"]
    return sum(item.length(width) + 1 for item in items) + sum(len(line) + 1 for line in lines) - 1


@lru_cache(maxsize=20_000)
def _shown_length(description: str, width: int) -> int:
    """Return the length of a description after cutting and escaping; cached for the goals of a batch."""
    return len(escape(cut(description, width)))


def _spare(file: str, folders: Sequence[str]) -> int:
    """Return the part of the room reserved for a skill's folder that the folder leaves free; may be negative."""
    longest = max((folder for folder in folders if file.startswith(f"{folder}{os.sep}")), key=len, default=None)
    return 0 if longest is None else FOLDER - len(escape(_clean(longest)))


def _left_out(items: Sequence[_Item], total: int) -> list[str]:
    count = total - len(items)
    return [f"{count} more {'skill is' if count == 1 else 'skills are'} left out of this list."] if count else []


def _clean(text: str) -> str:
    return _CONTROL.sub("", text)


def descriptions_of(listing: str, most: int) -> dict[str, str]:
    """Return the first skills of a recorded listing, each with its description; replays have no skill files."""
    rows = islice(_SKILL.finditer(listing), most)
    return {html.unescape(row[1]): html.unescape(row[2]) for row in rows}


def lines_of(listing: str, most: int, width: int) -> dict[str, str]:
    """Return the first skills of a listing, each with its description cut to a width."""
    return {name: cut(text, width) for name, text in descriptions_of(listing, most).items()}
