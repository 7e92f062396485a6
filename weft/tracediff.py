"""Two runs side by side: selection, plan, and task by task what went in, what came out, tokens and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from executor.difference import difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.timeline import Span, Timeline


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


def compare(a: Timeline, b: Timeline) -> Iterator[Difference]:
    """All that differs, tasks aligned by their ids."""
    yield from _pair("run", "goal", a.result.goal, b.result.goal)
    yield from _pair("run", "status", a.status, b.status)
    yield from _pair("selection", "skills", list(a.result.skills), list(b.result.skills))
    outputs = [{task.id: task.output or "" for task in view.result.tasks} for view in (a, b)]
    told = [
        {task.id: task.to_dict() for task in (view.result.plan.tasks if view.result.plan else ())} for view in (a, b)
    ]
    for name in dict.fromkeys([*a.spans, *b.spans]):
        one, other = a.spans.get(name), b.spans.get(name)
        if one is None or other is None:
            yield Difference(name, "task", one is not None, other is not None)
            continue
        yield from _pair(name, "plan", told[0].get(name), told[1].get(name))
        if one.inputs and other.inputs:
            yield from _pair(name, "inputs", one.inputs, other.inputs)
        texts = [all_of.get(name, "") for all_of in outputs]
        if (line := difference(*texts)) is not None:
            yield Difference(name, f"output: {line}", texts[0], texts[1])
        yield from _spans(name, one, other)
    texts = [view.result.answer or "" for view in (a, b)]
    if (line := difference(*texts)) is not None:
        yield Difference("answer", line, texts[0], texts[1])
    yield from _pair("run", "tokens", a.result.usage.tokens, b.result.usage.tokens)
    yield from _pair("run", "cost_usd", a.result.cost_usd, b.result.cost_usd)
    yield from _pair("run", "seconds", round(a.seconds, 3), round(b.seconds, 3))


def _spans(name: str, a: Span, b: Span) -> Iterator[Difference]:
    for what in ("status", "attempts", "calls", "tokens", "cost_usd"):
        yield from _pair(name, what, getattr(a, what), getattr(b, what))
    yield from _pair(name, "seconds", round(a.seconds, 3), round(b.seconds, 3))


def _pair(where: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    if a != b:
        yield Difference(where, what, a, b)
