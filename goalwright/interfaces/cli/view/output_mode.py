"""How a command prints: --json, --quiet and --verbose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutputMode:
    """How much a command prints, and in which form."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
