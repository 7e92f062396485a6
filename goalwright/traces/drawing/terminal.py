"""A plan as lines of text: one task per line, with the edges as lines at the left, as `git log --graph` draws them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.traces.drawing.layers import layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

# More lines side by side than this are hard to follow: then the edges are named instead.
_MAX_LANES = 12
# Which of up, down, left and right a character connects.
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_GLYPHS = {
    0: " ", _UP: "│", _DOWN: "│", _UP | _DOWN: "│", _LEFT | _RIGHT: "─", _UP | _RIGHT: "└", _UP | _LEFT: "┘",
    _DOWN | _RIGHT: "┌", _DOWN | _LEFT: "┐", _UP | _DOWN | _RIGHT: "├", _UP | _DOWN | _LEFT: "┤",
    _UP | _LEFT | _RIGHT: "┴", _DOWN | _LEFT | _RIGHT: "┬", _UP | _DOWN | _LEFT | _RIGHT: "┼", _LEFT: "─", _RIGHT: "─",
}  # fmt: skip
ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the drawing: its edges, and the task that stands in it, if one does.

    `before` names what the task waits for where its edges are not drawn.
    """

    edges: str
    task: Task | None = None
    answer: bool = False
    before: tuple[str, ...] = ()


def lines(plan: Plan) -> list[Line]:
    """The plan from its first tasks to its answer."""
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
    """How many tasks wait for this one; the answer is one of them if it is written from it."""
    count = int(plan.graph.out_degree(task_id))
    return count or int(plan.needs_synthesis)


@dataclass(slots=True)
class _Lanes:
    """The edges that are open at a line, each in a column: from a task that is drawn to one that is not yet."""

    waiting: dict[str, int]  # how many tasks below still need each task
    open: list[str | None] = field(default_factory=list)
    widest: int = 0

    def place(self, task_id: str, before: Iterable[str], task: Task | None) -> list[Line]:
        """The lines that a task adds: one that joins the edges from the tasks before it, then its own."""
        sources = [self.open.index(source) for source in dict.fromkeys(before) if source in self.open]
        ending = []
        for at in sources:
            source = self.open[at] or ""
            self.waiting[source] -= 1
            if not self.waiting[source]:
                ending.append(at)
        mine = min(ending) if ending else self._free()
        join = self._join(sources, set(ending), mine)
        for at in ending:
            self.open[at] = None
        self._put(mine, task_id)
        own = "".join(
            ("○ " if task else "◇ ") if at == mine else "│ " if lane else "  " for at, lane in enumerate(self.open)
        )
        if not self.waiting.get(task_id):
            self.open[mine] = None
        self._trim()
        return [*([Line(join)] if join else []), Line(own.rstrip(), task, task is None)]

    def _join(self, sources: Sequence[int], ending: set[int], mine: int) -> str:
        """The line that leads the edges of these columns to one column; empty if they are there already."""
        if not sources or (list(sources) == [mine] and mine in ending):
            return ""
        first, last = min((*sources, mine)), max((*sources, mine))
        cells = []
        for at in range(max(len(self.open), mine + 1)):
            taken = at < len(self.open) and self.open[at] is not None
            links = _UP if taken else 0
            if (taken and at not in ending) or at == mine:
                links |= _DOWN
            links |= (_LEFT if first < at <= last else 0) | (_RIGHT if first <= at < last else 0)
            if first < at < last and at not in sources and at != mine and taken:
                links = _UP | _DOWN | _LEFT | _RIGHT
            cells.append(_GLYPHS[links] + ("─" if first <= at < last else " "))
        return "".join(cells).rstrip()

    def _free(self) -> int:
        return next((at for at, lane in enumerate(self.open) if lane is None), len(self.open))

    def _put(self, at: int, task_id: str) -> None:
        if at == len(self.open):
            self.open.append(None)
        self.open[at] = task_id
        self.widest = max(self.widest, len(self.open))

    def _trim(self) -> None:
        while self.open and self.open[-1] is None:
            self.open.pop()
