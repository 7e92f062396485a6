"""Which reader handles which file at discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.discovery.skill_file import context
from skills.discovery.tool_file import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skills.discovery.entry import Entry
    from skills.discovery.locations import Location
    from skills.discovery.scan import Found

READERS: Mapping[str, Callable[[Found, Location], Entry]] = {"SKILL.md": context, "skill.yaml": executable}
