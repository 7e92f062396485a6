"""The sets and their folders in a folder of checkouts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from plan_quality.nestful import Nestful
from plan_quality.plan_over_graph import PlanOverGraph
from plan_quality.taskbench import TaskBench
from plan_quality.worfbench import WorFBench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plan_quality.goals import GoalSet
    from selection_quality.minilm import MiniLM

FOLDERS = {
    "ultratool": "GNN4TaskPlan",
    "tmdb": "GNN4TaskPlan",
    "worfbench": "WorFBench",
    "nestful": "NESTFUL",
    "plan_over_graph": "Plan-over-Graph",
}


def goal_set(name: str) -> GoalSet:
    """Return a set by name."""
    if name in ("ultratool", "tmdb"):
        return TaskBench(name)
    if name == "worfbench":
        return WorFBench(_encode)
    return Nestful() if name == "nestful" else PlanOverGraph()


def _encode(texts: Sequence[str]) -> list[Sequence[float]]:
    """all-MiniLM-L6-v2's vectors; the set's own evaluator uses a larger model of the same family."""
    return list(_minilm().encode(texts))


@cache
def _minilm() -> MiniLM:
    from selection_quality.minilm import MiniLM

    return MiniLM.installed()
