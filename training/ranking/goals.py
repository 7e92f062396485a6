"""What a development goal is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal with the skills of its pool that it should select; `half` says whether weights may be learnt from it."""

    id: str
    set: str
    half: str
    pool: str
    text: str
    expected: tuple[str, ...]
