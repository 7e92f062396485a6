"""A plan: tasks and their dependencies, as a networkx graph. It never changes; `changed` makes another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from weft_planner.plan.conditions import values_in
from weft_planner.plan.forms.result_keys import ResultCheck
from weft_planner.plan.references import Reference, references, renamed
from weft_planner.plan.repeat import PreviousRound, Repeat
from weft_planner.plan.task_id import (
    in_round,
    number_of,
    parent_of,
    place_of,
    round_of,
    with_parents,
    written_id,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import networkx as nx

ActionType = Literal["skill", "tool", "llm", "goal"]
ACTION_TYPES: tuple[str, ...] = get_args(ActionType)
_STRUCTS = ("check", "repeat", "previous")
_OPTIONAL = ("output_schema", "check", "model", "most_tasks", "max_cost", "repeat", "previous")


class Item(msgspec.Struct, frozen=True):
    """The item that a grown task is for: any JSON value of the list that its parent goes through."""

    value: Any


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan.

    With `when` it runs only if a condition holds. With `for_each` it goes on in a task for each item of a list, at most
    `width` at a time, only the `first` of them; each of these has its `item`. With an `output_schema` its result is
    JSON of that form, and with a `check` it must hold. `model` is a name of `[models]` in the settings. A `goal` is
    planned when it is ready, and goes on in the tasks of that plan, `most_tasks` at most, which together may cost
    `max_cost` dollars. With `repeat` it is done again, until a condition on its result holds; a round has what the one
    before it came to as `previous`.
    """

    id: str
    action_type: ActionType
    title: str = ""
    name: str | None = None
    instruction: str = ""
    arguments: str | Mapping[str, Any] = ""
    depends_on: tuple[str, ...] = ()
    needs_approval: bool | str = False
    when: str | Mapping[str, Any] | None = None
    for_each: str | tuple[Any, ...] | None = None
    width: int | None = None
    first: int | None = None
    item: Item | None = None
    output_schema: Mapping[str, Any] | None = None
    check: ResultCheck | None = None
    model: str | None = None
    most_tasks: int | None = None
    max_cost: int | float | None = None
    repeat: Repeat | None = None
    previous: PreviousRound | None = None

    @property
    def given(self) -> tuple[Reference, ...]:
        """The results, and fields of results, that stand in its instruction or arguments, each once."""
        return self.referred((self.instruction, self.arguments))

    @property
    def refers(self) -> bool:
        """Whether it may read more than the results that it depends on; most tasks do not."""
        return (
            "<<" in self.instruction
            or self.arguments != ""
            or self.check is not None
            or self.when is not None
            or self.for_each is not None
            or self.repeat is not None
        )

    @property
    def references(self) -> tuple[str, ...]:
        """The ids of tasks whose output, or a field of it, it refers to, each once."""
        if not self.refers:
            return ()
        found = self.referred((self.instruction, self.arguments, self.asked))
        return tuple(dict.fromkeys(one.id for one in found if one.part == "output" and one.item is None))

    @property
    def other_references(self) -> tuple[Reference, ...]:
        """What else it refers to, each once: how tasks ended, how many items they have, and single items."""
        if not self.refers:
            return ()
        found = self.referred((self.instruction, self.arguments, self.asked))
        return tuple(one for one in found if one.part != "output" or one.item is not None)

    @property
    def asked(self) -> str:
        """What its check asks; empty if it has none."""
        return self.check.ask if self.check is not None else ""

    def referred(self, value: object) -> tuple[Reference, ...]:
        """The references inside one of its texts or values, each once."""
        found = dict.fromkeys(references(value))
        if self.for_each is None and self.item is None:
            return tuple(found)
        return tuple(one for one in found if one.id != "item")  # <<item.output>> is a field of the item

    @property
    def reads(self) -> tuple[str, ...]:
        """The ids of tasks whose values decide whether and how often it runs, or which items it has, each once."""
        if self.when is None and self.for_each is None and self.repeat is None:
            return ()
        source = self.for_each if isinstance(self.for_each, str) else ""
        until = self.repeat.until if self.repeat is not None else ""
        read = (*self.referred((self.when, until)), *references(source))
        found = dict.fromkeys(reference.id for reference in read)
        found.pop(written_id(self.id), None)  # its own result
        return tuple(found)

    @property
    def reads_status_of(self) -> frozenset[str]:
        """The ids of tasks whose status decides whether it runs: it runs although they failed."""
        return frozenset(reference.id for reference in self.referred(self.when) if reference.part == "status")

    @property
    def handles(self) -> frozenset[str]:
        """The ids of tasks, and of their items, whose failure is handled if it is done."""
        return frozenset(reference.of for reference in self.referred(self.when) if reference.part == "status")

    @property
    def asks(self) -> bool:
        """Whether a model decides if it runs, or runs again."""
        return isinstance(self.when, Mapping) or (self.repeat is not None and self.repeat.asks)

    @property
    def each_when(self) -> bool:
        """Whether its condition is one on each item, which is checked for each."""
        return self.for_each is not None and any(value.id == "item" for value in values_in(self.when))

    def rewired(self, ids: Mapping[str, str]) -> Task:
        """The task with other tasks in place of some that it depends on or refers to; it stays the same itself."""
        texts = (self.instruction, self.arguments, self.asked, self.needs_approval)
        if ids.keys().isdisjoint((*self.depends_on, *self.reads, *(one.id for one in self.referred(texts)))):
            return self
        return replace(
            self,
            instruction=renamed(self.instruction, ids),
            arguments=renamed(self.arguments, ids),
            needs_approval=renamed(self.needs_approval, ids),
            when=renamed(self.when, ids),
            for_each=renamed(self.for_each, ids) if isinstance(self.for_each, str) else self.for_each,
            depends_on=tuple(dict.fromkeys(ids.get(before, before) for before in self.depends_on)),
            check=replace(self.check, ask=renamed(self.check.ask, ids)) if self.check is not None else None,
            repeat=self._repeat_with({old: new for old, new in ids.items() if old != self.id}),
        )

    def renamed(self, task_id: str) -> Task:
        """The task under another id, by which its own texts refer to it too."""
        return replace(self, id=task_id, repeat=self._repeat_with({self.id: task_id}))

    def _repeat_with(self, ids: Mapping[str, str]) -> Repeat | None:
        return replace(self.repeat, until=renamed(self.repeat.until, ids)) if self.repeat is not None else None

    def to_dict(self) -> dict[str, Any]:
        """The task as in the plan's JSON, without empty fields."""
        given: dict[str, Any] = {"id": self.id}
        if self.title:
            given["title"] = self.title
        given["action_type"] = self.action_type
        given |= {key: value for key in ("name", "instruction") if (value := getattr(self, key))}
        if self.arguments not in ("", None):
            given["arguments"] = dict(self.arguments) if isinstance(self.arguments, Mapping) else self.arguments
        given["depends_on"] = list(self.depends_on)
        if self.needs_approval:
            given["needs_approval"] = self.needs_approval
        if self.when is not None:
            given["when"] = dict(self.when) if isinstance(self.when, Mapping) else self.when
        if self.for_each is not None:
            given["for_each"] = list(self.for_each) if isinstance(self.for_each, tuple) else self.for_each
            given |= {key: value for key in ("width", "first") if (value := getattr(self, key)) is not None}
        if self.item is not None:
            given["item"] = self.item.value
        for key in _OPTIONAL:
            if (value := getattr(self, key)) is not None:
                given[key] = value.to_dict() if key in _STRUCTS else value
        return given

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Task:
        """The task in a row of a valid document."""
        action = row["action_type"]
        empty: str | dict[str, Any] = {} if action == "tool" else ""
        return cls(
            id=row["id"],
            action_type=action,
            title=row.get("title") or "",
            name=row.get("name") if action in ("skill", "tool") else None,
            instruction=row.get("instruction") or "",
            arguments=row.get("arguments") or empty,
            depends_on=tuple(dict.fromkeys(row.get("depends_on") or ())),
            needs_approval=row.get("needs_approval") or False,
            when=row.get("when"),
            for_each=tuple(source) if isinstance(source := row.get("for_each"), list) else source,
            width=row.get("width"),
            first=row.get("first"),
            item=Item(row["item"]) if "item" in row else None,
            output_schema=row.get("output_schema") or None,
            check=ResultCheck.from_dict(row["check"]) if row.get("check") else None,
            model=row.get("model") or None,
            most_tasks=row.get("most_tasks"),
            max_cost=row.get("max_cost"),
            repeat=Repeat.from_dict(row["repeat"]) if row.get("repeat") else None,
            previous=PreviousRound.from_dict(row["previous"]) if row.get("previous") else None,
        )


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

    @property
    def finals(self) -> tuple[Task, ...]:
        """The tasks that no other task depends on, in plan order, except those that were replaced."""
        return tuple(
            task for task in self.tasks if self.graph.out_degree(task.id) == 0 and task.id not in self.replaced
        )

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


def _text(text: str | None) -> str | None:
    """The text, or None if it is empty or blank."""
    return text if text and text.strip() else None
