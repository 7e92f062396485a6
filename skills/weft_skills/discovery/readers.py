"""Which reader handles which file at discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_skills.discovery.skill_file import context
from weft_skills.discovery.tool_file import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft_skills.discovery.entry import Entry
    from weft_skills.discovery.locations import Location
    from weft_skills.discovery.scan import Found

READERS: Mapping[str, Callable[[Found, Location], Entry]] = {"SKILL.md": context, "skill.yaml": executable}
