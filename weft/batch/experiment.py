"""Experiments: each goal with each of several models, several times, and a table that compares them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from weft.batch.summary import Times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weft.batch.goals import BatchGoal


def variants(goals: Iterable[BatchGoal], models: Sequence[str], repeat: int) -> Iterator[BatchGoal]:
    """Every goal with every model, `repeat` times, each with an id of its own."""
    for goal in goals:
        for model in models or (goal.model,):
            for number in range(1, repeat + 1):
                name = f"{goal.id}@{model}" if model else goal.id
                yield replace(goal, id=f"{name}#{number}" if repeat > 1 else name, model=model)


def comparison(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each model, from all lines of results."""
    comparison = Comparison()
    for row in rows:
        comparison.add(row)
    return comparison.rows()


@dataclass(slots=True)
class _Arm:
    runs: int = 0
    done: int = 0
    cost: float | None = 0.0
    tokens: int = 0
    tasks: int = 0
    times: Times = field(default_factory=Times)


@dataclass(slots=True)
class Comparison:
    """Figures by model; agreement is how often its plan used what most runs of that goal used."""

    _arms: dict[str, _Arm] = field(default_factory=lambda: defaultdict(_Arm))
    _plans: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a run by its line of results."""
        model, cost, tasks = row.get("model") or "default", row["cost_usd"], row["tasks"]
        arm = self._arms[model]
        arm.runs += 1
        arm.done += row["status"] == "done"
        arm.cost = None if arm.cost is None or cost is None else arm.cost + cost
        arm.tokens += row["usage"]["prompt_tokens"] + row["usage"]["completion_tokens"]
        arm.tasks += len(tasks)
        arm.times.add(row["seconds"])
        signature = tuple(sorted(f"{task['action_type']} {task['name'] or ''}".strip() for task in tasks))
        self._plans[row["goal"]].append((model, signature))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each model."""
        agreement = self._agreement()
        return [
            {
                "model": name,
                "runs": arm.runs,
                "success": round(arm.done / arm.runs, 3),
                "cost_usd": arm.cost,
                "seconds_p50": arm.times.percentile(0.5),
                "tokens": round(arm.tokens / arm.runs),
                "tasks": round(arm.tasks / arm.runs, 1),
                "agreement": round(agreement[name], 3),
            }
            for name, arm in self._arms.items()
        ]

    def _agreement(self) -> dict[str, float]:
        agreed: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for runs in self._plans.values():
            usual = Counter(signature for _, signature in runs).most_common(1)[0][0]
            for model, signature in runs:
                total[model] += 1
                agreed[model] += signature == usual
        return {model: agreed[model] / count for model, count in total.items()}
