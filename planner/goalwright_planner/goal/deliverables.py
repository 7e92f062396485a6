"""Which results belong in the answer besides the final ones: those that no later task takes up into its own.

"Write a function, then write tests for it" asks for both; "write a poem, then shorten it" for the short one alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.goal.clauses import language_of, mask
from goalwright_planner.plan.task_id import parent_of

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan


def deliverables(plan: Plan) -> frozenset[str]:
    """The ids of tasks that others depend on, and whose results the goal asks for all the same."""
    users = {
        task.id: [later.instruction for later in plan.tasks if task.id in later.depends_on]
        for task in plan.tasks
        if task.action_type != "tool" and parent_of(task.id) is None
    }
    return frozenset(name for name, texts in users.items() if texts and not any(_takes_up(text) for text in texts))


def _takes_up(instruction: str) -> bool:
    """Whether a task's result stands for those that it builds on: a new form of them, or all of them put together."""
    language = language_of(instruction)
    begins = language.any_of(f"{language.changes} {language.weighs}", start=True)
    return any(pattern.search(mask(instruction)) is not None for pattern in (begins, language.any_of(language.joins)))
