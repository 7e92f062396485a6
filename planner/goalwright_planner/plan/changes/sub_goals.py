"""Tasks that are goals: what is wrong with one, and the tasks of its plan as they join the plan of the run.

Faults go into the prompt that asks a model again: changing their text breaks strict replay of recorded runs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.references import renamed
from goalwright_planner.plan.task_id import sub_task_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from goalwright_planner.plan.task import Task

GOAL = "goal"
_OWN_KEYS = ("most_tasks", "max_cost")


def faults(row: Mapping[str, Any], max_depth: int) -> Iterator[str]:
    """What is wrong with a task as a goal; `max_depth` is how deep goals may still be nested."""
    most, cost = row.get("most_tasks"), row.get("max_cost")
    if row.get("action_type") != GOAL:
        yield from (f"'{key}' is only for action_type 'goal'" for key in _OWN_KEYS if row.get(key) is not None)
        return
    if max_depth < 1:
        yield (
            "'action_type' 'goal' is not possible here, as goals are nested as deep as max_depth allows; "
            "plan the tasks themselves, or raise max_depth"
        )
    instruction = row.get("instruction")
    if instruction is None or (isinstance(instruction, str) and not instruction.strip()):
        yield "a goal task needs 'instruction', which says what to reach"
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        yield f"'most_tasks' must be a positive integer, not {most!r:.80}"
    number = isinstance(cost, int | float) and not isinstance(cost, bool)
    if cost is not None and not (number and math.isfinite(cost) and cost > 0):
        yield f"'max_cost' must be a positive number of dollars, not {cost!r:.80}"


def joining(task: Task, plan: Plan, results: Collection[str]) -> Plan:
    """The plan of a goal as a part of the run's: with other ids, its first tasks after what the goal waited for.

    Where the goal is repeated, its first tasks are shown what the round before came to; `results` have ended well.
    """
    names = {part.id: sub_task_id(task.id, part.id) for part in plan.tasks}
    before = tuple(name for name in task.depends_on if name in results)

    def joined(part: Task) -> Task:
        renamed = part.rewired(names).renamed(names[part.id])
        if renamed.depends_on:
            return renamed
        return replace(renamed, depends_on=before, previous=task.previous if part.action_type != "tool" else None)

    return Plan(tuple(map(joined, plan.tasks)), renamed(plan.synthesis, names), joined=plan.joined)
