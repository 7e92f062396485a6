"""A plan: tasks and their dependencies, as a networkx graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Sequence

ActionType = Literal["skill", "tool", "llm"]
ACTION_TYPES: tuple[str, ...] = get_args(ActionType)

REFERENCE = re.compile(r"<<\s*([\w-]+)\.output\s*>>")


@dataclass(frozen=True, slots=True)
class Task:
    """One step of a plan."""

    id: str
    action_type: ActionType
    title: str = ""
    name: str | None = None
    instruction: str = ""
    arguments: str | Mapping[str, Any] = ""
    depends_on: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """The ids of tasks whose output its instruction or arguments refer to, each once."""
        found = (match for text in strings((self.instruction, self.arguments)) for match in REFERENCE.findall(text))
        return tuple(dict.fromkeys(found))

    def to_dict(self) -> dict[str, Any]:
        """The task as in the plan's JSON, without empty fields."""
        fields: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "action_type": self.action_type,
            "name": self.name,
            "instruction": self.instruction,
            "arguments": dict(self.arguments) if isinstance(self.arguments, Mapping) else self.arguments,
        }
        given = {key: value for key, value in fields.items() if value not in ("", None)}
        return given | {"depends_on": list(self.depends_on)}


@dataclass(frozen=True)
class Plan:
    """A validated plan; `graph` has an edge from each task to those that depend on it."""

    tasks: tuple[Task, ...]
    synthesis: str | None = None
    clarification: str | None = None
    graph: nx.DiGraph[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", graph_of(self.tasks))

    def task(self, task_id: str) -> Task:
        """The task of that id."""
        return cast("Task", self.graph.nodes[task_id]["task"])

    @property
    def finals(self) -> tuple[Task, ...]:
        """The tasks that no other task depends on, in plan order."""
        return tuple(task for task in self.tasks if self.graph.out_degree(task.id) == 0)

    @property
    def needs_synthesis(self) -> bool:
        """Whether the answer needs a model call of its own."""
        return self.synthesis is not None or len(self.finals) != 1

    @property
    def needs_model(self) -> bool:
        """Whether running the plan needs any model call."""
        return self.needs_synthesis or any(task.action_type != "tool" for task in self.tasks)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {
            "tasks": [task.to_dict() for task in self.tasks],
            "synthesis": self.synthesis,
            "clarification": self.clarification,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """The plan in a valid document."""
        return cls(
            tasks=tuple(_task(row) for row in document.get("tasks") or ()),
            synthesis=_text(document.get("synthesis")),
            clarification=_text(document.get("clarification")),
        )


def graph_of(tasks: Sequence[Task]) -> nx.DiGraph[str]:
    """The tasks as nodes, with an edge from each dependency to its dependent."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for task in tasks:
        graph.add_node(task.id, task=task)
    graph.add_edges_from((before, task.id) for task in tasks for before in task.depends_on)
    return graph


def strings(value: object) -> Iterator[str]:
    """Every string inside a JSON-like value."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from strings(item)
        case list() | tuple():
            for item in value:
                yield from strings(item)


def _text(text: str | None) -> str | None:
    """The text, or None if it is empty or blank."""
    return text if text and text.strip() else None


def _task(row: Mapping[str, Any]) -> Task:
    action = row["action_type"]
    empty: str | dict[str, Any] = {} if action == "tool" else ""
    return Task(
        id=row["id"],
        action_type=action,
        title=row.get("title") or "",
        name=row.get("name") if action != "llm" else None,
        instruction=row.get("instruction") or "",
        arguments=row.get("arguments") or empty,
        depends_on=tuple(dict.fromkeys(row.get("depends_on") or ())),
    )
