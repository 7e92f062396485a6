"""A plan: tasks and their dependencies. It is immutable; `changed` returns another."""

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
    """A validated plan.

    `unused` has the reasons why no task uses a skill that fits. In a conversation, a plan may have an `answer` instead
    of tasks. The final results of a `joined` plan are put below each other without a model call. The cached properties
    `grown`, `dropped` and `replaced` describe changes since the plan was made; they are neither compared nor recorded.
    """

    tasks: tuple[Task, ...]
    synthesis: str | None = None
    clarification: str | None = None
    unused: Mapping[str, str] = {}
    joined: bool = False
    answer: str | None = None

    @cached_property
    def grown(self) -> int:
        """The number of tasks that joined the plan while it ran."""
        return 0

    @cached_property
    def dropped(self) -> frozenset[str]:
        """The ids of dropped tasks; no new task may have one of them."""
        return frozenset()

    @cached_property
    def replaced(self) -> frozenset[str]:
        """The ids of tasks that others replaced: nothing waits for them, and no answer needs them."""
        return frozenset()

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The tasks, with an edge from each to its dependents, and from a grown task to its parent."""
        return graph_of(self.tasks)

    @cached_property
    def _by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def task(self, task_id: str) -> Task:
        """Return the task with this id."""
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
        """Return the plan after a change.

        `rewired` maps the id of a replaced task to its replacement, in dependencies and in references. Without a
        `synthesis` the plan keeps its own; an empty one removes it. The reasons in `unused` are added.
        """
        without = [task for task in self.tasks if task.id not in dropped] if dropped else self.tasks
        kept = [task.rewired(rewired) for task in without] if rewired else without
        text = renamed(self.synthesis, rewired or {}) if synthesis is None else _text(synthesis)
        reasons = {**self.unused, **unused} if unused else self.unused
        return Plan((*kept, *added), text, self.clarification, reasons, self.joined)._since(
            self.grown + len(added),
            self.dropped.union(dropped) if dropped else self.dropped,
            self.replaced.union(rewired).difference(dropped) if rewired else self.replaced,
        )

    def with_tasks(self, tasks: Sequence[Task], *, grown: int = 0) -> Plan:
        """Return the plan with these tasks; `grown` of them joined it while it ran."""
        return replace(self, tasks=tuple(tasks))._since(self.grown + grown, self.dropped, self.replaced)

    def having_grown(self, grown: int) -> Plan:
        """Return the plan with another number of grown tasks."""
        return replace(self)._since(grown, self.dropped, self.replaced)

    def _since(self, grown: int, dropped: frozenset[str], replaced: frozenset[str]) -> Plan:
        """Set the changes of a plan that was just made."""
        self.__dict__.update(grown=grown, dropped=dropped, replaced=replaced)
        return self

    def without_grown(self) -> Plan:
        """Return the plan without items, rounds and tasks of sub-goals."""
        kept = tuple(task for task in self.tasks if parent_of(task.id) is None)
        return self if len(kept) == len(self.tasks) else self.with_tasks(kept)

    def without_replaced(self) -> Plan:
        """Return the plan without the replaced tasks."""
        kept = tuple(task for task in self.tasks if task.id not in self.replaced)
        return self if len(kept) == len(self.tasks) else self.with_tasks(kept)

    def parts_of(self, task_id: str) -> tuple[Task, ...]:
        """Return the items and sub-tasks of a task, items by number; rounds are left out."""
        parts = [task for task in self.tasks if parent_of(task.id) == task_id and round_of(task.id) is None]
        return tuple(sorted(parts, key=lambda task: number_of(task.id) or 0))

    def rounds_of(self, task_id: str) -> tuple[Task, ...]:
        """Return the rounds of a task in order, without the first, which is the task itself."""
        rounds = [task for task in self.tasks if in_round(task.id) and parent_of(task.id) == task_id]
        return tuple(sorted((task for task in rounds if round_of(task.id)), key=lambda task: place_of(task.id)))

    @cached_property
    def superseded(self) -> frozenset[str]:
        """The ids of tasks in rounds before the last; their results no longer count."""
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
        """The tasks that a result lists: a repeated task stands for all its rounds."""
        return tuple(task for task in self.tasks if not in_round(task.id) and task.id not in self.superseded)

    @cached_property
    def finals(self) -> tuple[Task, ...]:
        """The tasks that no other task depends on, in plan order, without replaced ones."""
        # Building the graph takes longer than this, and every round of a task makes another plan.
        others = self.replaced.union(before for task in self.tasks for before in task.depends_on)
        return tuple(task for task in self.tasks if task.id not in others and not self._is_part(task.id))

    def behind(self, task_ids: Collection[str]) -> set[str]:
        """Return the ids of tasks that depend on one of these, directly or through others."""
        import networkx as nx

        return {after for _, after in nx.edge_bfs(self.graph, [name for name in task_ids if name in self])}

    def _is_part(self, task_id: str) -> bool:
        parent = parent_of(task_id)
        return parent is not None and parent in self

    @property
    def needs_synthesis(self) -> bool:
        """Whether the answer needs a synthesis call."""
        if self.answer is not None:
            return False
        return self.synthesis is not None or (len(self.finals) != 1 and not self.joined)

    @property
    def answering(self) -> Task | None:
        """The task whose result is the answer, or None."""
        return self.finals[0] if not self.needs_synthesis and len(self.finals) == 1 else None

    @property
    def needs_model(self) -> bool:
        """Whether the plan needs any model call to run."""
        return self.needs_synthesis or any(task.action_type != "tool" or task.asks for task in self.tasks)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
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
        """Return the plan in a valid document."""
        return cls(
            tasks=tuple(Task.from_dict(row) for row in document.get("tasks") or ()),
            synthesis=_text(document.get("synthesis")),
            clarification=_text(document.get("clarification")),
            unused=dict(document.get("unused") or {}),
            joined=bool(document.get("joined")),
            answer=_text(document.get("answer")) if not document.get("tasks") else None,
        )


def graph_of(tasks: Sequence[Task]) -> nx.DiGraph[str]:
    """Return tasks as nodes, with an edge from each dependency to its dependent and from a grown task to its parent."""
    import networkx as nx  # slow to import, and the first model call does not need it

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(task.id for task in tasks)
    graph.add_edges_from((before, task.id) for task in tasks for before in task.depends_on)
    parents = ((task.id, parent_of(task.id)) for task in tasks)
    graph.add_edges_from((task_id, parent) for task_id, parent in parents if parent is not None and parent in graph)
    return graph


def graph_faults(plan: Plan) -> Iterator[str]:
    """Yield the faults of the ids and edges of a plan that comes from a record."""
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
    """Return the text, or None if it is blank."""
    return text if text and text.strip() else None
