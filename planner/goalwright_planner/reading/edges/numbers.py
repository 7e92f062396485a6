"""Numbers of tasks that say in which order they run: `level: 1`, `phase: "Phase 2"`, `order: 3`."""

from __future__ import annotations

import re

from goalwright_planner.reading.edges.task_names import folded

_KEYS = frozenset(
    folded(key)
    for key in (
        "level", "stage", "phase", "step", "wave", "layer", "tier", "round", "order", "sequence", "seq",
        "execution_order", "run_order", "order_number", "step_number", "step_no", "level_number", "execution_level",
        "execution_stage", "execution_phase", "topological_level", "parallel_group", "execution_group", "depth",
        "generation", "rank", "position", "sequence_number", "task_order", "group", "batch",
    )
)  # fmt: skip
_NUMBER = re.compile(r"\W*(?:[^\W\d_]+)?[\s_#.-]*(\d{1,6})(?![\d.]*\d)(?:\W.*)?", re.DOTALL)


def orders_tasks(key: str) -> bool:
    """Whether numbers under this key of tasks are an order."""
    return folded(key) in _KEYS


def number_in(value: object) -> int | None:
    """The number that a value is, or that a text such as `Phase 2: write` begins with."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    match = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(match[1]) if match is not None else None
