"""The tasks of a plan as far as they can be read, faults or not, with the lines on which they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goalwright.runs.plans.plan_nodes import PlanNodes


@dataclass(frozen=True, slots=True)
class OutlinedTask:
    """One task, and its first and last line."""

    id: str
    title: str
    action_type: str
    name: str
    depends_on: tuple[str, ...]
    line: int
    end: int

    def to_dict(self) -> dict[str, Any]:
        """The task as JSON."""
        return asdict(self)


def outline(document: Any, nodes: PlanNodes | None) -> tuple[OutlinedTask, ...]:
    """The tasks of a document in normal form that have an id."""
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    if not isinstance(rows, list):
        return ()
    lines = _lines(nodes, len(rows))
    tasks = ((row, where) for row, where in zip(rows, lines, strict=True) if isinstance(row, Mapping))
    return tuple(_task(row, *where) for row, where in tasks if _text(row.get("id")))


def _lines(nodes: PlanNodes | None, many: int) -> list[tuple[int, int]]:
    if nodes is None or len(nodes.tasks) != many:
        return [(1, 1)] * many
    return [(nodes.line(node.start_mark.index), nodes.line(nodes.end(node))) for node in nodes.tasks]


def _task(row: Mapping[str, Any], line: int, end: int) -> OutlinedTask:
    wanted = row.get("depends_on")
    needs = tuple(dict.fromkeys(filter(None, map(_text, wanted if isinstance(wanted, list) else ()))))
    texts = {key: _text(row.get(key)) for key in ("id", "title", "action_type", "name")}
    return OutlinedTask(**texts, depends_on=needs, line=line, end=end)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
