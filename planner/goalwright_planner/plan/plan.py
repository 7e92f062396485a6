"""A plan: tasks and their dependencies, as a networkx graph. It never changes; `changed` makes another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from goalwright_planner.plan.references import renamed
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.task_id import in_round, number_of, parent_of, place_of, round_of, with_parents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import networkx as nx


class Plan(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """A validated plan; `unused` says of skills that fit why no task uses them.

    In a conversation it may be an `answer` instead of tasks.
    The final results of a plan that is `joined` are put below each other, without a model.
    What changed since it was made is no part of it as a value, and not recorded with it.
    """

    tasks: tuple[Task, ...]
    synthesis: str | None = None
    clarification: str | None = None
    unused: Mapping[str, str] = {}
    joined: bool = False
    answer: str | None = None

    @cached_property
    def grown(self) -> int:
        """How many tasks joined it since it was made."""
        return 0

    @cached_property
    def dropped(self) -> frozenset[str]:
        """The ids of tasks that it no longer has, and that no new task may have."""
        return frozenset()

    @cached_property
    def replaced(self) -> frozenset[str]:
        """The tasks that others have taken the place of: nothing waits for them any more, and no answer needs them."""
        return frozenset()

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The tasks, with an edge from each to those that depend on it, and from a grown task to its parent."""
        return graph_of(self.tasks)

    @cached_property
    def _by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def task(self, task_id: str) -> Task:
        """The task of that id."""
        return self._by_id[task_id]

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._by_id

    def changed(
        self,
        added: Sequence[Task] = (),
        dropped: Collection[str] = (),
        rewired: Mapping[str, str] | None = None,
        synthesis: str | None = None,
        unused: Mapping[str, str] | None = None,
    ) -> Plan:
        """The plan without the tasks dropped and with those added, its other tasks rewired.

        `rewired` maps an id to the one that takes its place where tasks depend on it or refer to its output; without
        a `synthesis`, the plan keeps its own; an empty one takes it away. Reasons for `unused` skills are added.
        """
        without = [task for task in self.tasks if task.id not in dropped] if dropped else self.tasks
        kept = [task.rewired(rewired) for task in without] if rewired else without
        told = renamed(self.synthesis, rewired or {}) if synthesis is None else _text(synthesis)
        reasons = {**self.unused, **unused} if unused else self.unused
        return Plan((*kept, *added), told, self.clarification, reasons, self.joined)._since(
            self.grown + len(added),
            self.dropped.union(dropped) if dropped else self.dropped,
            self.replaced.union(rewired).difference(dropped) if rewired else self.replaced,
        )

    def with_tasks(self, tasks: Sequence[Task], *, grown: int = 0) -> Plan:
        """The plan with these tasks, some of which have joined it."""
        return replace(self, tasks=tuple(tasks))._since(self.grown + grown, self.dropped, self.replaced)

    def having_grown(self, grown: int) -> Plan:
        """The plan as if so many tasks had joined it."""
        return replace(self)._since(grown, self.dropped, self.replaced)

    def _since(self, grown: int, dropped: frozenset[str], replaced: frozenset[str]) -> Plan:
        """Set what changed since it was made, of a plan that nobody has seen yet."""
        self.__dict__.update(grown=grown, dropped=dropped, replaced=replaced)
        return self

    def without_grown(self) -> Plan:
        """The plan without the tasks that grow while it runs: items, rounds, and tasks of sub-goals."""
        kept = tuple(task for task in self.tasks if parent_of(task.id) is None)
        return self if len(kept) == len(self.tasks) else self.with_tasks(kept)

    def without_replaced(self) -> Plan:
        """The plan without the tasks that others have taken the place of."""
        kept = tuple(task for task in self.tasks if task.id not in self.replaced)
        return self if len(kept) == len(self.tasks) else self.with_tasks(kept)

    def parts_of(self, task_id: str) -> tuple[Task, ...]:
        """The grown tasks that are parts of a task, in their order: items by their numbers; not its rounds."""
        parts = [task for task in self.tasks if parent_of(task.id) == task_id and round_of(task.id) is None]
        return tuple(sorted(parts, key=lambda task: number_of(task.id) or 0))

    def rounds_of(self, task_id: str) -> tuple[Task, ...]:
        """The rounds of a task from the second on, in their order; the first is the task itself."""
        rounds = [task for task in self.tasks if in_round(task.id) and parent_of(task.id) == task_id]
        return tuple(sorted((task for task in rounds if round_of(task.id)), key=lambda task: place_of(task.id)))

    @cached_property
    def superseded(self) -> frozenset[str]:
        """The tasks of rounds before the last one of their task: what they came to does not count any more."""
        last: dict[str, int] = {}
        for task in self.tasks:
            if (number := round_of(task.id)) is not None:
                whole = parent_of(task.id) or ""
                last[whole] = max(number, last.get(whole, 0))
        if not last:
            return frozenset()

        def is_before_last(task_id: str) -> bool:
            inside = with_parents(task_id)
            return any((round_of(part) or 1) < last.get(whole, 0) for part, whole in pairwise(inside))

        return frozenset(task.id for task in self.tasks if is_before_last(task.id))

    @property
    def reported(self) -> tuple[Task, ...]:
        """The tasks that a result lists: a task that was repeated stands for all its rounds."""
        return tuple(task for task in self.tasks if not in_round(task.id) and task.id not in self.superseded)

    @cached_property
    def finals(self) -> tuple[Task, ...]:
        """The tasks that no other task depends on, in plan order, except those that were replaced."""
        # Without the graph: it takes longer to make than all of this, and every round of a task makes another plan.
        others = self.replaced.union(before for task in self.tasks for before in task.depends_on)
        return tuple(task for task in self.tasks if task.id not in others and not self._is_part(task.id))

    def behind(self, task_ids: Collection[str]) -> set[str]:
        """The tasks that wait for one of these, directly or through others."""
        import networkx as nx

        return {after for _, after in nx.edge_bfs(self.graph, [name for name in task_ids if name in self])}

    def _is_part(self, task_id: str) -> bool:
        parent = parent_of(task_id)
        return parent is not None and parent in self

    @property
    def needs_synthesis(self) -> bool:
        """Whether the answer needs a model call of its own."""
        if self.answer is not None:
            return False
        return self.synthesis is not None or (len(self.finals) != 1 and not self.joined)

    @property
    def answering(self) -> Task | None:
        """The task whose result is the answer, if it is that of a single one."""
        return self.finals[0] if not self.needs_synthesis and len(self.finals) == 1 else None

    @property
    def needs_model(self) -> bool:
        """Whether running the plan needs any model call."""
        return self.needs_synthesis or any(task.action_type != "tool" or task.asks for task in self.tasks)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        document = {
            "tasks": [task.to_dict() for task in self.tasks],
            "synthesis": self.synthesis,
            "clarification": self.clarification,
        }
        unused = {"unused": dict(self.unused)} if self.unused else {}
        answer = {"answer": self.answer} if self.answer is not None else {}
        return document | unused | ({"joined": True} if self.joined else {}) | answer

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """The plan in a valid document."""
        return cls(
            tasks=tuple(Task.from_dict(row) for row in document.get("tasks") or ()),
            synthesis=_text(document.get("synthesis")),
            clarification=_text(document.get("clarification")),
            unused=dict(document.get("unused") or {}),
            joined=bool(document.get("joined")),
            answer=_text(document.get("answer")) if not document.get("tasks") else None,
        )


def graph_of(tasks: Sequence[Task]) -> nx.DiGraph[str]:
    """The tasks as nodes, with an edge from each dependency to its dependent, and from a grown task to its parent."""
    import networkx as nx  # it takes long to import, and a run's first call leaves without it

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(task.id for task in tasks)
    graph.add_edges_from((before, task.id) for task in tasks for before in task.depends_on)
    parents = ((task.id, parent_of(task.id)) for task in tasks)
    graph.add_edges_from((task_id, parent) for task_id, parent in parents if parent is not None and parent in graph)
    return graph


def graph_faults(plan: Plan) -> Iterator[str]:
    """Every fault of the plan's ids and edges."""
    import networkx as nx

    names = [task.id for task in plan.tasks]
    if len(set(names)) < len(names):
        yield "two tasks of 'plan' have the same id"
    for task in plan.tasks:
        yield from (
            f"task {task.id!r} of 'plan' depends on {before!r}, which is not in it"
            for before in task.depends_on
            if before not in plan
        )
    if not nx.is_directed_acyclic_graph(plan.graph):
        yield "the tasks of 'plan' depend on each other in a circle"


def _text(text: str | None) -> str | None:
    """The text, or None if it is empty or blank."""
    return text if text and text.strip() else None
