"""Which tasks of a plan may start while the rest of it is still being written.

The answer depends on the text alone, not on the pieces in which it comes: a re-ask names these tasks, begun or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.decompose.partial import PartialPlan
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.validate import graph_problems, row_problems
from goalwright_planner.reading.edges.joining import PROSE
from goalwright_planner.reading.edges.task_names import folded
from goalwright_planner.reading.normal_form import PLAN_KEYS, normal_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.plan.validate import Known


@dataclass(slots=True)
class EarlyReader:
    """Reads a plan as it is written, and hands out each task that has no fault and waits only for such tasks.

    `may_begin` says of a valid task whether it does no harm if the plan is refused. A task waits for the whole plan if
    it has an unknown key, which may name tasks that are not written yet, or does not say what it depends on, which a
    key of the plan may say. If the plan has such a key before its tasks, all of them wait.
    """

    known: Known
    may_begin: Callable[[Task], bool]
    found: dict[str, Task] = field(default_factory=dict)
    _text: PartialPlan = field(default_factory=PartialPlan)
    _valid: list[dict[str, Any]] = field(default_factory=list)
    _held: list[dict[str, Any]] = field(default_factory=list)
    _unclear: set[str] = field(default_factory=set)
    _stopped: bool = False

    def feed(self, piece: str) -> list[Task]:
        """The tasks that may start now."""
        ready: list[Task] = []
        for row in self._text.feed(piece):
            if not self._stopped:
                self._take(row, ready)
        return ready

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = self._text.stopped = True

    def _take(self, row: Any, ready: list[Task]) -> None:
        """Take a row that is whole; a fault of its own ends it all, since the plan will be refused."""
        if any(key not in PLAN_KEYS and folded(key) not in PROSE for key in self._text.keys):
            self.stop()
            return
        form = normal_form({"tasks": [row]})
        rows = form.document.get("tasks") if isinstance(form.document, dict) else None
        if form.faults or not rows or not isinstance(rows[0], dict):
            self.stop()
            return
        taken = len(self._valid) + len(self._held)
        if taken >= self.known.max_tasks or next(row_problems(taken + 1, rows[0], self.known), None):
            self.stop()
            return
        if form.dropped or not isinstance(rows[0].get("depends_on"), list):
            self._unclear.add(rows[0]["id"])
        self._held.append(rows[0])
        while self._next(ready):
            pass

    def _next(self, ready: list[Task]) -> bool:
        """Take one of the rows that waited for others to be written; whether there was one."""
        for row in self._held:
            if next(graph_problems([*self._valid, row], self.known), None) is not None:
                continue
            self._held.remove(row)
            self._valid.append(row)
            task = Task.from_dict(row)
            if (
                task.id not in self._unclear
                and self.may_begin(task)
                and all(before in self.found for before in task.depends_on)
            ):
                self.found[task.id] = task
                ready.append(task)
            return True
        return False
