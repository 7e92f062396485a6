"""What a key of a plan states about the order of its tasks: edges, dependencies by task, or an order of them all.

A form whose direction could be read both ways is not read: pairs count only if they go with the order of the tasks,
and a map under a name such as `dag` does not say which side waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from goalwright_planner.reading.edges.edge_text import edges_among, edges_in, has_arrow, texts_in
from goalwright_planner.reading.edges.numbers import number_in
from goalwright_planner.reading.edges.task_names import folded

if TYPE_CHECKING:
    from goalwright_planner.reading.edges.edge_text import Edge
    from goalwright_planner.reading.edges.task_names import TaskNames

# Keys under which a task, or a plan by task, says what comes before it.
WAITS = (
    "depends_on", "dependencies", "deps", "depends", "dependency", "depend_on", "dependent_on", "prerequisites",
    "prerequisite", "prereqs", "requires", "needs", "after", "run_after", "start_after", "parents", "predecessors",
    "predecessor", "upstream", "upstream_tasks", "wait_for", "waits_for", "waiting_for", "waits_on", "wait_on",
    "blocked_by", "awaits", "task_dependencies", "depends_on_tasks", "dependency_ids", "requires_tasks",
    "required_tasks", "previous_tasks", "follows",
)  # fmt: skip
# Keys under which it says what comes after it.
NEXT = (
    "next", "next_tasks", "next_task", "next_steps", "successors", "successor", "downstream", "downstream_tasks",
    "dependents", "required_by", "needed_by", "followed_by", "leads_to", "feeds", "blocks", "unblocks", "precedes",
    "triggers",
)  # fmt: skip
_EDGES = ("edges", "links", "connections", "arcs", "arrows", "transitions", "task_edges", "relations", "relationships")
_GRAPHS = (
    "dag", "graph", "task_graph", "workflow", "flow", "pipeline", "structure", "mermaid", "dot", "graphviz", "diagram",
    "dependency_graph", "dependencies_graph", "adjacency", "adjacency_list",
)  # fmt: skip
_ORDERS = (
    "order", "execution_order", "task_order", "run_order", "ordering", "sequence", "execution_sequence",
    "topological_order", "levels", "execution_levels", "stages", "phases", "waves", "layers", "tiers", "steps", "chain",
    "schedule", "execution_plan", "batches", "rounds", "groups", "parallel_groups", "execution_groups",
)  # fmt: skip
# What stands under these is about the order of tasks, whatever it says: it is read or a fault, and never dropped.
_ALWAYS_ORDER = frozenset(map(folded, (*_EDGES, "dag", "order")))
_PARALLEL = ("parallel", "inparallel", "concurrent", "concurrently", "any", "none", "unordered")
_NODES = ("nodes", "tasks", "vertices", "task_ids", "ids")
_MODES = ("execution", "execution_mode", "mode", "strategy", "process", "execution_strategy", "run", "scheduling")
_SEQUENTIAL = (
    "sequential", "sequentially", "serial", "serially", "inorder", "inseries", "linear", "oneaftertheother",
    "oneafteranother", "onebyone", "oneatatime", "chain",
)  # fmt: skip
_PAIRS = (
    ("from", "to"), ("source", "target"), ("source", "destination"), ("src", "dst"), ("before", "after"),
    ("predecessor", "successor"), ("upstream", "downstream"), ("parent", "child"), ("start", "end"), ("first", "then"),
    ("first", "second"), ("tail", "head"), ("prerequisite", "task"), ("dependency", "dependent"),
    ("from_task", "to_task"), ("source_task", "target_task"), ("from_id", "to_id"), ("source_id", "target_id"),
)  # fmt: skip
_TASK = ("task", "id", "task_id", "name", "node", "step")
_LABELS = ("label", "type", "kind", "id", "name", "description", "weight", "color", "title", "reason", "note")

_KEYS = {"WAITS": WAITS, "NEXT": NEXT, "EDGES": _EDGES, "GRAPH": _GRAPHS, "ORDER": _ORDERS, "NODES": _NODES}
_KIND = {folded(key): kind for kind, keys in _KEYS.items() for key in keys}


@dataclass(frozen=True, slots=True)
class Stated:
    """The edges that a key states, or None if they cannot be read exactly.

    An `order` of tasks leaves out what needs no order; it only counts where no edges are stated otherwise.
    """

    edges: tuple[Edge, ...] | None
    order: bool = False

    @classmethod
    def of(cls, edges: Sequence[Edge] | None, *, order: bool = False) -> Stated:
        """The edges as they were read."""
        return cls(None if edges is None else tuple(dict.fromkeys(edges)), order)


def stated(key: str, value: Any, names: TaskNames) -> Stated | None:
    """What a key of the plan states about its tasks; None if it states nothing."""
    if value in (None, "", [], {}):
        return None
    kind = _KIND.get(folded(key))
    if _is_sequential(key, value):
        return Stated.of(list(pairwise(names.ids)), order=True)
    if folded(key) in _ALWAYS_ORDER and not _names_tasks(value, names) and not isinstance(value, Mapping | list):
        return None if isinstance(value, str) and folded(value) in _PARALLEL else Stated(None)
    if isinstance(value, str) and not (_names_tasks(value, names) or (kind and has_arrow(value))):
        return None
    if not isinstance(value, str | list | tuple | Mapping) or not _is_about_tasks(kind, value, names):
        return None
    match kind:
        case "EDGES" | "GRAPH":
            rows = _waiting_rows(value)
            if rows is not None:
                return Stated.of(_by_task(rows, names, waits=True))
            return Stated.of(_edges(value, names, is_edges=kind == "EDGES"))
        case "WAITS" | "NEXT":
            return Stated.of(_by_task(value, names, waits=kind == "WAITS"))
        case "ORDER":
            return _order(value, names)
        case "NODES":
            return None if names.all_of(value) is not None else Stated(None)
        case _:
            return Stated(None)


def _names_tasks(value: Any, names: TaskNames) -> bool:
    return bool(names.named_in(value)) or any(edges_among(text, names) for text in texts_in(value))


def _is_about_tasks(kind: str | None, value: Any, names: TaskNames) -> bool:
    """Whether a value can state edges: those between tasks that the plan does not have are a fault too."""
    if _names_tasks(value, names):
        return True
    match kind:
        case "EDGES" | "NEXT":
            return True
        case "WAITS":
            return isinstance(value, Mapping) or any(not isinstance(one, str) or has_arrow(one) for one in value)
        case "GRAPH":
            return isinstance(value, Mapping) and any(
                _KIND.get(folded(str(key))) in ("EDGES", "NEXT", "WAITS") and inner for key, inner in value.items()
            )
        case _:
            return False


def _waiting_rows(value: Any) -> list[Any] | None:
    """What tasks wait for, where a graph says it for each: {"b": {"depends_on": ["a"]}}, or rows with an id."""
    rows = value
    if isinstance(value, Mapping):
        rows = [{"id": key, **inner} for key, inner in value.items() if isinstance(inner, Mapping)]
        if len(rows) < len(value):
            return None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    kinds = [[_KIND.get(folded(str(key))) for key in row] for row in rows]
    return rows if kinds and all(row.count("WAITS") == 1 for row in kinds) else None


def _is_sequential(key: str, value: object) -> bool:
    name = folded(key)
    if isinstance(value, bool):
        return (name in _SEQUENTIAL and value) or (name in ("parallel", "concurrent", "parallelizable") and not value)
    modes = map(folded, (*_MODES, *_ORDERS, *_GRAPHS))
    return isinstance(value, str) and name in modes and folded(value) in _SEQUENTIAL


def _edges(value: Any, names: TaskNames, *, is_edges: bool) -> list[Edge] | None:
    """The edges in a list of them, a text with arrows, or a graph with its own list."""
    if isinstance(value, str):
        return edges_in(value, names)
    if isinstance(value, Mapping):
        one = _pair(value, names)
        if one is not None:
            return one
        return _successors(value, names) if is_edges else _graph(value, names)
    edges: list[Edge] = []
    for entry in value:
        found = _edge(entry, names, is_edges=is_edges)
        if found is None:
            return None
        edges += found
    return edges


def _edge(entry: Any, names: TaskNames, *, is_edges: bool) -> list[Edge] | None:
    match entry:
        case str():
            return edges_in(entry, names) or None
        case Mapping():
            return _pair(entry, names)
        case [str() | int() as left, str() | int() as right] if is_edges:
            before, after = names.id_of(left), names.id_of(right)
            return _forwards([(before, after)] if before and after else None, names)
        case _:
            return None


def _pair(entry: Mapping[str, Any], names: TaskNames) -> list[Edge] | None:
    """The edges of an object such as {"from": "a", "to": "b"}; its other keys must be mere labels."""
    keys = {folded(str(key)): key for key in entry}
    for left, right in _PAIRS:
        if (first := keys.get(folded(left))) is None or (second := keys.get(folded(right))) is None:
            continue
        others = [key for fold, key in keys.items() if key not in (first, second) and fold not in map(folded, _LABELS)]
        before, after = names.all_of(entry[first]), names.all_of(entry[second])
        return list(product(before, after)) if before and after and not others else None
    return None


def _graph(value: Mapping[str, Any], names: TaskNames) -> list[Edge] | None:
    """The edges of a graph that has them under keys of its own; a bare map does not say which side waits."""
    if any(names.id_of(key) is not None or folded(str(key)) not in _KIND for key in value):
        return None
    edges: list[Edge] = []
    for key, inner in value.items():
        found = stated(key, inner, names)
        if found is not None and (found.edges is None or found.order):
            return None
        edges += (found.edges or ()) if found is not None else ()
    return edges


def _successors(value: Mapping[str, Any], names: TaskNames) -> list[Edge] | None:
    return _forwards(_by_task(value, names, waits=False), names)


def _forwards(edges: list[Edge] | None, names: TaskNames) -> list[Edge] | None:
    """Edges whose direction is told by their place alone, if they go with the order of the tasks."""
    if edges is None:
        return None
    return edges if all(names.places[before] < names.places[after] for before, after in edges) else None


def _by_task(value: Any, names: TaskNames, *, waits: bool) -> list[Edge] | None:
    """The edges of what each task has before it, or after it: a map by task, or a list of such rows."""
    rows = value if isinstance(value, list) else [value]
    edges: list[Edge] = []
    for row in rows:
        pairs = edges_in(row, names) if isinstance(row, str) and not has_arrow(row) else _rows(row, names)
        if pairs is None:
            return None
        if isinstance(row, str):
            edges += pairs
            continue
        edges += [(other, one) if waits else (one, other) for one, other in pairs]
    return edges


def _rows(row: Any, names: TaskNames) -> list[Edge] | None:
    """Each task of a row with each that stands beside it."""
    if not isinstance(row, Mapping):
        return None
    tasks = [key for key in row if folded(str(key)) in map(folded, _TASK)]
    others = [key for key in row if key not in tasks]
    if len(tasks) == 1 and len(others) == 1 and _KIND.get(folded(str(others[0]))) == "WAITS":
        if names.id_of(tasks[0]) is not None:
            return None  # a task of that very name
        row = {row[tasks[0]]: row[others[0]]}
    pairs: list[Edge] = []
    for key, value in row.items():
        one, beside = names.id_of(key), names.all_of(value)
        if one is None or beside is None or isinstance(value, Mapping):
            return None
        pairs += product([one], beside)
    return pairs


def _order(value: Any, names: TaskNames) -> Stated:
    """The edges of an order that has every task once: each waits for all of those before it."""
    if isinstance(value, str) and has_arrow(value):
        return Stated.of(edges_in(value, names))
    levels = _levels(value, names)
    if levels is None or sorted(task for level in levels for task in level) != sorted(names.ids):
        return Stated(None)
    return Stated.of(between(levels), order=True)


def between(levels: Sequence[Sequence[str]]) -> list[Edge]:
    """An edge from each task of a level to each of the next."""
    return [edge for before, after in pairwise(levels) for edge in product(before, after)]


def _levels(value: Any, names: TaskNames) -> list[list[str]] | None:
    if isinstance(value, str):
        found = names.all_of(value)
        return None if found is None else [[one] for one in found]
    if isinstance(value, Mapping):
        return _numbered(value, names)
    levels = [_level(entry, names) for entry in value]
    numbers = [number for entry in value if (number := _number_of(entry)) is not None]
    if numbers != sorted(set(numbers)):
        return None
    return None if any(not level for level in levels) else [level for level in levels if level]


def _numbered(value: Mapping[str, Any], names: TaskNames) -> list[list[str]] | None:
    """Levels by number, as {"1": ["a"]}, or numbers by task, as {"a": 1}."""
    if all(isinstance(item, int) and not isinstance(item, bool) for item in value.values()):
        by_number: dict[int, list[str]] = {}
        for key, number in value.items():
            if (one := names.id_of(key)) is None:
                return None
            by_number.setdefault(number, []).append(one)
        return [by_number[number] for number in sorted(by_number)]
    numbers = {key: number_in(key) for key in value}
    if any(number is None or names.id_of(key) is not None for key, number in numbers.items()):
        return None
    if len(set(numbers.values())) < len(numbers):
        return None
    levels = [names.all_of(value[key]) for key in sorted(value, key=lambda key: numbers[key] or 0)]
    return None if any(not level for level in levels) else [level for level in levels if level]


def _level(entry: Any, names: TaskNames) -> list[str] | None:
    """The tasks of one level: a name, a list of them, or an object with one such list beside labels."""
    if not isinstance(entry, Mapping):
        return (
            [one]
            if (one := names.id_of(entry)) is not None
            else names.all_of(entry)
            if isinstance(entry, list)
            else None
        )
    lists = [item for item in entry.values() if isinstance(item, list | str) and names.all_of(item)]
    others = [item for item in entry.values() if not any(item is one for one in lists)]
    if len(lists) != 1 or any(names.named_in(item) and not isinstance(item, int) for item in others):
        return None
    return names.all_of(lists[0])


def _number_of(entry: Any) -> int | None:
    if not isinstance(entry, Mapping):
        return None
    numbers = [item for item in entry.values() if isinstance(item, int) and not isinstance(item, bool)]
    return numbers[0] if len(numbers) == 1 else None
