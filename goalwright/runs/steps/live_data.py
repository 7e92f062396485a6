"""Says that a goal needs the web where a run has none: a model makes up what it cannot look up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_skills.discovery.needs import WEB

if TYPE_CHECKING:
    from goalwright.workspace.workspace import Catalogue

_HOST = re.compile(r"https?://(?:[^\s/?#@]*@)?([\w.-]+)", re.IGNORECASE)
# What changes by the day, and words that ask for it as it is now.
_CHANGING = re.compile(
    r"\b(?:weather|forecast|temperature|news|headlines?|traffic|(?:stock|share|bitcoin|gold|oil|house)\s+prices?"
    r"|exchange\s+rates?|interest\s+rates?|(?:match|game|football)\s+(?:results?|scores?)|flight\s+status)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:today(?:'s|’s)?|tonight|tomorrow|yesterday|right\s+now|at\s+the\s+moment|current(?:ly)?|latest"
    r"|this\s+(?:morning|afternoon|evening|week)|up[\s-]to[\s-]date|live)\b",
    re.IGNORECASE,
)


def web_note(goal: str, catalogue: Catalogue) -> str:
    """What the goal needs of the web, and how to allow it; empty if nothing, or if tasks may get it by a tool."""
    if WEB in catalogue.capabilities or catalogue.goal.mcp.tools:
        return ""
    if address := _HOST.search(goal):
        host = address.group(1).rstrip(".").lower()
        return f"the goal names {host}, but tasks have no web access: allow it with --allow-web {host}"
    if (what := _CHANGING.search(goal)) and _NOW.search(goal):
        said = " ".join(what.group().lower().split())
        return (
            f"the goal asks for current data ({said}), but tasks have no web access, and a model may make it up: "
            "give the facts with --file, or allow a site with --allow-web HOST"
        )
    return ""
