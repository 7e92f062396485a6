"""How a task ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """It succeeded, with this output."""

    output: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed; other tasks are not affected unless they depend on it."""

    error: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """It did not start, because a task it depends on has no result."""

    error: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """It was stopped before it ended, by the user or a limit."""

    error: str


Outcome = Done | Failed | Skipped | Cancelled
