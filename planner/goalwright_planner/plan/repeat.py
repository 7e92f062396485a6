"""Rounds, the `repeat` of a task: it is done again with its last result in view, until a condition holds.

Faults go into the prompt that asks a model again: changing their text breaks strict replay of recorded runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from goalwright_planner.plan import conditions

LEAST, MOST = 2, 20
_KEYS = ("until", "most")
_EXAMPLE = '{"until": "<<id.output>> contains \\"done\\"", "most": 5}'


class Repeat(msgspec.Struct, frozen=True):
    """A task is done again until a condition on its own result holds, in `most` rounds at most."""

    until: str | Mapping[str, Any]
    most: int

    @property
    def asks(self) -> bool:
        """Whether a model decides if the task is done again."""
        return isinstance(self.until, Mapping)

    @property
    def told(self) -> str:
        """The condition, or the question in its place, as planned."""
        return self.until if isinstance(self.until, str) else str(self.until.get("ask", ""))

    def to_dict(self) -> dict[str, Any]:
        """The rounds as in the plan's JSON."""
        return {"until": dict(self.until) if isinstance(self.until, Mapping) else self.until, "most": self.most}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Repeat:
        """The rounds in a row of a valid document."""
        return cls(row["until"], row["most"])


class PreviousRound(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the round before came to, what must hold, and why a model said that it does not, if one was asked."""

    result: str
    until: str
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The round as JSON values."""
        return {"result": self.result, "until": self.until} | ({"why": self.why} if self.why else {})

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> PreviousRound:
        """The round in a row of a valid document."""
        return cls(row["result"], row["until"], row.get("why", ""))


def until_in(row: Mapping[str, Any]) -> object:
    """What ends the rounds of a task in a document that may have faults; None if it is not repeated."""
    repeat = row.get("repeat")
    return repeat.get("until") if isinstance(repeat, Mapping) else None


def faults(row: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with how a task is repeated, whatever the other tasks are."""
    repeat, own = row.get("repeat"), row.get("id")
    if repeat is None:
        return
    if not isinstance(repeat, Mapping):
        yield f"'repeat' must be an object such as {_EXAMPLE}, not {repeat!r:.80}"
        return
    for key in repeat:
        if key not in _KEYS:
            yield f"'repeat' has an unknown key {key!r}; use only {', '.join(_KEYS)}"
    most, until = repeat.get("most"), repeat.get("until")
    if most is None:
        yield f"'repeat' needs 'most', a whole number from {LEAST} to {MOST}, such as {_EXAMPLE}"
    elif not isinstance(most, int) or isinstance(most, bool) or not LEAST <= most <= MOST:
        yield f"'repeat.most' must be a whole number from {LEAST} to {MOST}, not {most!r:.80}"
    if until is None:
        yield f"'repeat' needs 'until', the condition that ends the rounds, such as {_EXAMPLE}"
        return
    broken = list(conditions.faults(until, "repeat.until"))
    yield from broken
    if broken or not isinstance(own, str):
        return
    read = [value for value in conditions.values_in(until) if value.id == own and value.item is None]
    if any(value.part == "status" for value in read):
        yield f"'repeat.until' reads <<{own}.status>>, its own, which is always done; read <<{own}.output>>"
    elif not read:
        yield f"'repeat.until' does not read <<{own}.output>>: no round could end differently from the one before"
