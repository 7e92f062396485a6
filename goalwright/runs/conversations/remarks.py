"""Remarks that a person makes during a run: they change the tasks that have not begun."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright_planner.events import PlanChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_planner.plan.task import Task

_LONGEST = 4_000
_NOTE = "remark: "


@dataclass(slots=True)
class Remarks:
    """A queue of remarks, which wait until the tasks of a plan begin."""

    _waiting: list[str] = field(default_factory=list)
    _make: Callable[[str], bool] | None = None

    def make(self, text: str) -> bool:
        """Pass on a remark; False if every task has begun already."""
        text = text.strip()[:_LONGEST].replace("<<", "< <")  # a remark contains no references
        if self._make is None:
            self._waiting.append(text)
            return True
        return self._make(text)

    def begin(self, make: Callable[[str], bool]) -> None:
        """Pass on the remarks that waited, and later ones at once."""
        self._make = make
        for text in self._waiting:
            make(text)
        self._waiting.clear()


def remarked(text: str, tasks: Sequence[Task]) -> PlanChanged:
    """Return the change of the plan that adds a remark to these tasks."""
    prefix = "The person remarked during the run: "
    changed = tuple(replace(task, instruction=f"{task.instruction}\n\n{prefix}{text}".strip()) for task in tasks)
    return PlanChanged("person", None, changed, tuple(task.id for task in tasks), note=_NOTE + text)
