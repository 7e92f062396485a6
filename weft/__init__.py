"""weft: give it a goal; it weaves a task graph from the skills that fit, runs it in parallel and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import siblings

if TYPE_CHECKING:
    from executor.ledger import Result
    from skills.errors import WeftError
    from weft.goal import Goal
    from weft.run import Weft, run_goal
    from weft.settings import Settings

__all__ = ["Goal", "Result", "Settings", "Weft", "WeftError", "run_goal"]
__version__ = "0.1.0"

_HOMES = {
    "Goal": "weft.goal",
    "Result": "executor.ledger",
    "Settings": "weft.settings",
    "Weft": "weft.run",
    "WeftError": "skills.errors",
    "run_goal": "weft.run",
}

siblings.check()


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first used: `weft --help` needs none of them."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'weft' has no attribute {name!r}")
