"""Compare two runs: selection, plan and, task by task, inputs, outputs, tokens and time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.history.difference import difference
from goalwright_planner.plan.references import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright.traces.span import Span
    from goalwright.traces.timeline import Timeline
    from goalwright_planner.plan.task import Task


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference, with the value of each run."""

    where: str
    what: str
    a: Any
    b: Any

    def __str__(self) -> str:
        match self.what:
            case "task":
                return f"{self.where}  only in {'the first' if self.a else 'the second'}"
            case "plan":
                return f"{self.where}  plan: {difference(_json(self.a), _json(self.b))}"
            case "inputs":  # the values are hashes
                return f"{self.where}  inputs differ"
            case what if what.startswith(("output", "line")):
                return f"{self.where}  {what}"
            case _:
                return f"{self.where}  {self.what}: {self.a} → {self.b}"


def compare(a: Timeline, b: Timeline) -> Iterator[Difference]:
    """Yield all differences; tasks are matched by id, renamed tasks by their content."""
    yield from _compare_values("run", "goal", a.result.goal, b.result.goal)
    yield from _compare_values("run", "status", a.status, b.status)
    yield from _compare_values("selection", "skills", list(a.result.skills), list(b.result.skills))
    first, second = _Side.of(a), _Side.of(b)
    for name, other in _match_tasks(first, second):
        if name is None or other is None:
            yield Difference(name or other or "", "task", name is not None, other is not None)
        else:
            yield from _compare_tasks(first, name, second, other)
    answers = (a.result.answer or "", b.result.answer or "")
    if (line := difference(*answers)) is not None:
        yield Difference("answer", line, *answers)
    yield from _compare_values("run", "tokens", a.result.usage.tokens, b.result.usage.tokens)
    yield from _compare_values("run", "cost_usd", a.result.cost_usd, b.result.cost_usd)
    yield from _compare_values("run", "seconds", round(a.seconds, 3), round(b.seconds, 3))


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs: its steps, its planned tasks and their outputs."""

    spans: Mapping[str, Span]
    tasks: Mapping[str, Task]
    outputs: Mapping[str, str]

    @classmethod
    def of(cls, view: Timeline) -> _Side:
        planned = view.result.plan.tasks if view.result.plan is not None else ()
        outputs = {task.id: task.output or "" for task in view.result.tasks}
        return cls(view.spans, {task.id: task for task in planned}, outputs)

    def definition(self, name: str) -> dict[str, Any] | None:
        """A task as planned, without its id."""
        task = self.tasks.get(name)
        return {key: value for key, value in task.to_dict().items() if key != "id"} if task is not None else None


def _match_tasks(a: _Side, b: _Side) -> Iterator[tuple[str | None, str | None]]:
    """Pair the tasks of both runs; None if only the other run has the task."""
    only_a, only_b = (
        {_content(task): task.id for task in side.tasks.values() if task.id not in other.spans}
        for side, other in ((a, b), (b, a))
    )
    renamed = {only_a[content]: only_b[content] for content in only_a if content in only_b}
    yield from ((name, name if name in b.spans else renamed.get(name)) for name in a.spans)
    yield from ((None, name) for name in b.spans if name not in a.spans and name not in renamed.values())


def _content(task: Task) -> str:
    """Return what a task does, without task ids."""
    parts = [task.action_type, task.name, task.instruction or task.title, task.arguments]
    if task.item is not None:
        parts.append(task.item.value)
    content = json.dumps(parts, default=dict)
    return REFERENCE.sub("", content)


def _compare_tasks(a: _Side, name: str, b: _Side, other: str) -> Iterator[Difference]:
    yield from _compare_values(name, "renamed", name, other)
    yield from _compare_values(name, "plan", a.definition(name), b.definition(other))
    first, second = a.spans[name], b.spans[other]
    if first.inputs and second.inputs:
        yield from _compare_values(name, "inputs", first.inputs, second.inputs)
    outputs = a.outputs.get(name, ""), b.outputs.get(other, "")
    if (line := difference(*outputs)) is not None:
        yield Difference(name, f"output: {line}", *outputs)
    yield from _compare_spans(name, first, second)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _compare_spans(name: str, a: Span, b: Span) -> Iterator[Difference]:
    for what in ("status", "attempts", "calls", "tokens", "cost_usd"):
        yield from _compare_values(name, what, getattr(a, what), getattr(b, what))
    yield from _compare_values(name, "seconds", round(a.seconds, 3), round(b.seconds, 3))


def _compare_values(where: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    if a != b:
        yield Difference(where, what, a, b)
