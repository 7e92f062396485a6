"""Voice and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutputMode:
    """How much is said, and in which form."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
