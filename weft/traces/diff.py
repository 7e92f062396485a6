"""Two runs side by side: selection, plan, and task by task what went in, what came out, tokens and time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from executor.history.difference import difference
from planner.plan.plan import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from planner.plan.plan import Task
    from weft.traces.timeline import Span, Timeline


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs, as it is in the one run and in the other."""

    where: str
    what: str
    a: Any
    b: Any

    def to_dict(self) -> dict[str, Any]:
        """The difference as `--json` has it."""
        return {"where": self.where, "what": self.what, "a": self.a, "b": self.b}

    def __str__(self) -> str:
        match self.what:
            case "task":
                return f"{self.where}  only in {'the first' if self.a else 'the second'}"
            case "plan":
                return f"{self.where}  plan: {difference(_json(self.a), _json(self.b))}"
            case "inputs":  # hashes, which say no more
                return f"{self.where}  inputs differ"
            case what if what.startswith(("output", "line")):
                return f"{self.where}  {what}"
            case _:
                return f"{self.where}  {self.what}: {self.a} → {self.b}"


def compare(a: Timeline, b: Timeline) -> Iterator[Difference]:
    """All that differs; tasks are aligned by their ids, or where they are told the same under another."""
    yield from _pair("run", "goal", a.result.goal, b.result.goal)
    yield from _pair("run", "status", a.status, b.status)
    yield from _pair("selection", "skills", list(a.result.skills), list(b.result.skills))
    one, two = _Side.of(a), _Side.of(b)
    for name, other in _aligned(one, two):
        if name is None or other is None:
            yield Difference(name or other or "", "task", name is not None, other is not None)
        else:
            yield from _steps(one, name, two, other)
    texts = [view.result.answer or "" for view in (a, b)]
    if (line := difference(*texts)) is not None:
        yield Difference("answer", line, texts[0], texts[1])
    yield from _pair("run", "tokens", a.result.usage.tokens, b.result.usage.tokens)
    yield from _pair("run", "cost_usd", a.result.cost_usd, b.result.cost_usd)
    yield from _pair("run", "seconds", round(a.seconds, 3), round(b.seconds, 3))


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs: its steps, and its tasks as they were planned and what they came to."""

    spans: Mapping[str, Span]
    tasks: Mapping[str, Task]
    outputs: Mapping[str, str]

    @classmethod
    def of(cls, view: Timeline) -> _Side:
        planned = view.result.plan.tasks if view.result.plan is not None else ()
        outputs = {task.id: task.output or "" for task in view.result.tasks}
        return cls(view.spans, {task.id: task for task in planned}, outputs)

    def told(self, name: str) -> dict[str, Any] | None:
        """A task as it is planned, but for its id."""
        task = self.tasks.get(name)
        return {key: value for key, value in task.to_dict().items() if key != "id"} if task is not None else None


def _aligned(a: _Side, b: _Side) -> Iterator[tuple[str | None, str | None]]:
    ours, theirs = (
        {_work(task): task.id for task in side.tasks.values() if task.id not in other.spans}
        for side, other in ((a, b), (b, a))
    )
    renamed = {ours[work]: theirs[work] for work in ours if work in theirs}
    yield from ((name, name if name in b.spans else renamed.get(name)) for name in a.spans)
    yield from ((None, name) for name in b.spans if name not in a.spans and name not in renamed.values())


def _work(task: Task) -> str:
    """What a task is told, whatever it and others are called."""
    told = json.dumps([task.action_type, task.name, task.instruction or task.title, task.arguments], default=dict)
    return REFERENCE.sub("", told)


def _steps(a: _Side, name: str, b: _Side, other: str) -> Iterator[Difference]:
    yield from _pair(name, "renamed", name, other)
    yield from _pair(name, "plan", a.told(name), b.told(other))
    one, two = a.spans[name], b.spans[other]
    if one.inputs and two.inputs:
        yield from _pair(name, "inputs", one.inputs, two.inputs)
    texts = a.outputs.get(name, ""), b.outputs.get(other, "")
    if (line := difference(*texts)) is not None:
        yield Difference(name, f"output: {line}", *texts)
    yield from _spans(name, one, two)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _spans(name: str, a: Span, b: Span) -> Iterator[Difference]:
    for what in ("status", "attempts", "calls", "tokens", "cost_usd"):
        yield from _pair(name, what, getattr(a, what), getattr(b, what))
    yield from _pair(name, "seconds", round(a.seconds, 3), round(b.seconds, 3))


def _pair(where: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    if a != b:
        yield Difference(where, what, a, b)
