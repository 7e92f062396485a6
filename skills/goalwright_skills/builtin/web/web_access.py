"""What of the web the user allows tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_skills.builtin.web.search_provider import SearchProvider


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The hosts that may be read, through a `proxy` only if that is set, and where the web is searched."""

    hosts: tuple[str, ...] = ()
    proxy: bool = False
    search: SearchProvider | None = None
