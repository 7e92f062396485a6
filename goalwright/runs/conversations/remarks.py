"""Remarks of a person while a run goes on: they reach the tasks that have not begun, as a change of the plan."""

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
    """Takes remarks; those made before there is a plan wait for it."""

    _waiting: list[str] = field(default_factory=list)
    _make: Callable[[str], bool] | None = None

    def make(self, text: str) -> bool:
        """Pass on a remark; False if every task has begun, so that it reaches none."""
        text = text.strip()[:_LONGEST].replace("<<", "< <")  # what a person says refers to nothing
        if self._make is None:
            self._waiting.append(text)
            return True
        return self._make(text)

    def begin(self, make: Callable[[str], bool]) -> None:
        """The tasks begin: what waited is passed on, and what comes later at once."""
        self._make = make
        for text in self._waiting:
            make(text)
        self._waiting.clear()


def remarked(text: str, tasks: Sequence[Task]) -> PlanChanged:
    """The change of the plan that tells these tasks of a remark."""
    said = "The person remarked while the work went on: "
    changed = tuple(replace(task, instruction=f"{task.instruction}\n\n{said}{text}".strip()) for task in tasks)
    return PlanChanged("person", None, changed, tuple(task.id for task in tasks), note=_NOTE + text)
