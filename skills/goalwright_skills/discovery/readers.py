"""Which reader handles which file at discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.discovery.skill_file import context
from goalwright_skills.discovery.tool_file import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright_skills.discovery.entry import Entry
    from goalwright_skills.discovery.locations import Location
    from goalwright_skills.discovery.scan import Found

READERS: Mapping[str, Callable[[Found, Location], Entry]] = {"SKILL.md": context, "skill.yaml": executable}
