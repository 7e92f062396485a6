"""What the end of a run waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.traces.span import Span


def critical_path(spans: dict[str, Span]) -> list[str]:
    """The chain of steps that the end of the run waited for."""
    tasks = [span for span in spans.values() if span.end is not None and not span.id.startswith("(")]
    path: list[str] = []
    step = max(tasks, key=lambda span: span.end or 0.0).id if tasks else None
    while step is not None and step in spans:
        path.insert(0, step)
        step = spans[step].waited_for

    def finished(name: str) -> list[str]:
        return [name] if name in spans and spans[name].end is not None else []

    return [*finished("(plan)"), *path, *finished("(synthesis)")]
