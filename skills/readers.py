"""The files that make skills, and who reads each at discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.context import context
from skills.programs import executable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skills.entry import Entry
    from skills.locations import Location
    from skills.scan import Found

READERS: Mapping[str, Callable[[Found, Location], Entry]] = {"SKILL.md": context, "skill.yaml": executable}
