"""The argument `glob` of the tools that look for files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.builtin.parameters import text
from goalwright_skills.builtin.search.glob import BadGlob, Glob
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping

GLOB = text("Only files that match, such as `*.py` (in any folder) or `src/**/*.ts`.")


def glob_of(arguments: Mapping[str, Any]) -> Glob | None:
    """The glob among the arguments, if there is one; raises ToolFault if it cannot match anything."""
    given = arguments.get("glob")
    if given is None or given == "":
        return None
    try:
        return Glob.of(given if isinstance(given, str) else "")
    except BadGlob as error:
        what = f"glob {error}, not {given!r:.80}; give one such as `*.py`, or omit it"
        raise ToolFault("INVALID_PARAM", what) from error
