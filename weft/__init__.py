"""weft: give it a goal; it weaves a task graph from the skills that fit, runs it in parallel and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import import_guard as siblings
from weft.version import __version__ as __version__

if TYPE_CHECKING:
    from executor.history.result import Result
    from skills.errors import WeftError
    from weft.runs.goal import Goal
    from weft.runs.runtime import Weft, run_goal
    from weft.settings.settings import Settings

__all__ = ["Goal", "Result", "Settings", "Weft", "WeftError", "run_goal"]

_HOMES = {
    "Goal": "weft.runs.goal",
    "Result": "executor.history.result",
    "Settings": "weft.settings.settings",
    "Weft": "weft.runs.runtime",
    "WeftError": "skills.errors",
    "run_goal": "weft.runs.runtime",
}

siblings.check()


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first used: `weft --help` needs none of them."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'weft' has no attribute {name!r}")
