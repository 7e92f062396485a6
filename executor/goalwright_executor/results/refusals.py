"""Answers of a planner that were refused, and why, as they are on record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    from goalwright_planner.events import PlanRefused

_Place = tuple[str | None, int | None]


@dataclass(slots=True)
class Refusals:
    """The refusals of plans that are still being made: by sub-goal and number of the change, each with its reply's key.

    A resumed run reads the same replies again; it is told of their faults in the recorded words.
    """

    _by_place: dict[_Place, list[tuple[str, PlanRefused]]] = field(default_factory=dict)
    _taken: Counter[_Place] = field(default_factory=Counter)

    def note(self, event: PlanRefused, reply: str) -> None:
        """Add a refusal; a run that was resumed begins with the first attempt again."""
        place = event.task, event.change
        before = self._by_place.get(place, [])
        self._by_place[place] = [(key, one) for key, one in before if one.attempt < event.attempt] + [(reply, event)]

    def end(self) -> None:
        """Forget those of the run's own plan, which was made."""
        self._by_place.pop((None, None), None)

    def recorded(self, event: PlanRefused, replies: Container[str]) -> PlanRefused | None:
        """The same refusal on record; None if there is none, or its reply was forgotten."""
        place = event.task, event.change
        number = self._taken[place]
        self._taken[place] += 1
        refused = self._by_place.get(place, [])
        if number >= len(refused) or refused[number][0] not in replies:
            return None
        return refused[number][1]
