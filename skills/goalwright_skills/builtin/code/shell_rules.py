"""What the user allows the commands of a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShellRules:
    """How many seconds a command may take at most, and the hosts that it may reach."""

    most_seconds: int = 600
    hosts: tuple[str, ...] = ()
