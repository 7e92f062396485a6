"""How a task ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """It ended well, with this output."""

    output: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed, alone."""

    error: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """It could not begin, because something it depends on has no result."""

    error: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """It was stopped before its end, by the user or a limit."""

    error: str


Outcome = Done | Failed | Skipped | Cancelled
