"""A plan as lines of text, one task per line with its edges at the left, like `git log --graph`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.traces.drawing.layout import layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

# With more lanes, dependencies are listed by name instead of drawn.
_MAX_LANES = 12
# The directions that a character connects.
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_GLYPHS = {
    0: " ", _UP: "│", _DOWN: "│", _UP | _DOWN: "│", _LEFT | _RIGHT: "─", _UP | _RIGHT: "└", _UP | _LEFT: "┘",
    _DOWN | _RIGHT: "┌", _DOWN | _LEFT: "┐", _UP | _DOWN | _RIGHT: "├", _UP | _DOWN | _LEFT: "┤",
    _UP | _LEFT | _RIGHT: "┴", _DOWN | _LEFT | _RIGHT: "┬", _UP | _DOWN | _LEFT | _RIGHT: "┼", _LEFT: "─", _RIGHT: "─",
}  # fmt: skip
ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the drawing: its edges, and its task, if any; `before` lists dependencies whose edges are not drawn."""

    edges: str
    task: Task | None = None
    answer: bool = False
    before: tuple[str, ...] = ()


def lines(plan: Plan) -> list[Line]:
    """Draw a plan from its first tasks to its answer."""
    plan = plan.without_grown()
    order = [task for layer in layers(plan) for task in layer]
    lanes = _Lanes({task.id: _dependents(plan, task.id) for task in order})
    drawn: list[Line] = []
    for task in order:
        drawn += lanes.place(task.id, task.depends_on, task)
    if plan.needs_synthesis:
        drawn += lanes.place(ANSWER, [task.id for task in plan.finals], None)
    if lanes.widest > _MAX_LANES:
        named = [Line("○", task, before=task.depends_on) for task in order]
        return [*named, Line("◇", answer=True)] if plan.needs_synthesis else named
    return drawn


def _dependents(plan: Plan, task_id: str) -> int:
    """Count the dependents of a task, including the answer."""
    count = int(plan.graph.out_degree(task_id))
    return count or int(plan.needs_synthesis)


@dataclass(slots=True)
class _Lanes:
    """The open edges of a line by column: each leads from a drawn task to one below."""

    waiting: dict[str, int]  # the number of undrawn dependents of each task
    open: list[str | None] = field(default_factory=list)
    widest: int = 0

    def place(self, task_id: str, before: Iterable[str], task: Task | None) -> list[Line]:
        """Add a task: a line that joins the edges of its dependencies, then its own line."""
        sources = [self.open.index(source) for source in dict.fromkeys(before) if source in self.open]
        ending = []
        for column in sources:
            source = self.open[column] or ""
            self.waiting[source] -= 1
            if not self.waiting[source]:
                ending.append(column)
        mine = min(ending) if ending else self._free()
        join = self._join(sources, set(ending), mine)
        for column in ending:
            self.open[column] = None
        self._put(mine, task_id)
        own = "".join(
            ("○ " if task else "◇ ") if column == mine else "│ " if lane else "  "
            for column, lane in enumerate(self.open)
        )
        if not self.waiting.get(task_id):
            self.open[mine] = None
        self._trim()
        return [*([Line(join)] if join else []), Line(own.rstrip(), task, task is None)]

    def _join(self, sources: Sequence[int], ending: set[int], mine: int) -> str:
        """Draw the line that joins the edges of some columns into one; empty if none is needed."""
        if not sources or (list(sources) == [mine] and mine in ending):
            return ""
        first, last = min((*sources, mine)), max((*sources, mine))
        cells = []
        for column in range(max(len(self.open), mine + 1)):
            taken = column < len(self.open) and self.open[column] is not None
            links = _UP if taken else 0
            if (taken and column not in ending) or column == mine:
                links |= _DOWN
            links |= (_LEFT if first < column <= last else 0) | (_RIGHT if first <= column < last else 0)
            if first < column < last and column not in sources and column != mine and taken:
                links = _UP | _DOWN | _LEFT | _RIGHT
            cells.append(_GLYPHS[links] + ("─" if first <= column < last else " "))
        return "".join(cells).rstrip()

    def _free(self) -> int:
        return next((column for column, lane in enumerate(self.open) if lane is None), len(self.open))

    def _put(self, column: int, task_id: str) -> None:
        if column == len(self.open):
            self.open.append(None)
        self.open[column] = task_id
        self.widest = max(self.widest, len(self.open))

    def _trim(self) -> None:
        while self.open and self.open[-1] is None:
            self.open.pop()
