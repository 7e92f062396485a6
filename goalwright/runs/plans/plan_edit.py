"""A person's edit of a run's plan: the difference between two plans as one change, validated like any change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.decompose import required
from goalwright_planner.events import ApprovalGiven, PlanChanged, ReplanAsked
from goalwright_planner.plan.change import Change, problems
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_executor.history.replans import TaskEnd
    from goalwright_executor.history.run_history import RunHistory
    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

# The events of a person for a stored run: answers, changes of its plan, and withdrawn requests.
PersonEvent = PlanChanged | ReplanAsked | ApprovalGiven
_HINT = "edit the plan that `goalwright plan` writes for the run; tasks that have begun cannot change"


@dataclass(frozen=True, slots=True)
class PlanInHand:
    """The plan of a recorded run for a person to edit, without grown and replaced tasks, and its tasks' states."""

    plan: Plan
    ends: Mapping[str, TaskEnd]
    whole: Plan

    @property
    def begun(self) -> dict[str, str]:
        """The status of each task that has begun."""
        kept = {name: end.status for name, end in self.ends.items() if name in self.whole}
        return {name: status for name, status in kept.items() if status not in ("pending", "skipped", "waiting")}

    def comments(self) -> list[str]:
        """Return lines that tell an editor which tasks may be changed."""
        begun = [f"{task.id} ({self.begun[task.id]})" for task in self.plan.tasks if task.id in self.begun]
        if not begun:
            return ["No task has begun: all of them may be changed."]
        failed = [task.id for task in self.plan.tasks if self.begun.get(task.id) == "failed"]
        have = "has" if len(begun) == 1 else "have"
        fixed = f"{counted(len(begun), 'task')} {have} begun and cannot change: {', '.join(begun)}."
        if not failed:
            return [fixed]
        return [fixed, f"To replace {failed[0]}: delete it, add a task, and let its dependents depend on the new one."]


def plan_in_hand(history: RunHistory) -> PlanInHand:
    """Return the plan of a run for a person to edit."""
    if history.plan is None or not history.plan.tasks:
        raise InputError("the run has no plan yet", hint="resume it first, or run its goal again")
    whole = history.plan.without_grown()
    return PlanInHand(whole.without_replaced(), history.replans.tasks, whole)


def edit(before: PlanInHand, after: Plan, known: Known, where: str, must_use: Sequence[str] = ()) -> PlanChanged | None:
    """Return the change that a person made; None if there is none. Raises with all faults if it is not allowed.

    The plan must still use the skills in `must_use` that it used before.
    """
    old, new = ({task.id: task for task in plan.tasks} for plan in (before.plan, after))
    rewired = _replacements(before, old, new)
    expected = {name: task.rewired(rewired) for name, task in old.items()}
    edited = tuple(name for name in old if name in new and new[name].to_dict() != expected[name].to_dict())
    dropped = tuple(name for name in old if name not in new and name not in rewired)
    added = tuple(task for name, task in new.items() if name not in old or name in edited)
    synthesis = None if after.synthesis == before.plan.synthesis else after.synthesis or ""
    unused = {name: why for name, why in after.unused.items() if before.plan.unused.get(name) != why}
    change = Change(added, (*dropped, *edited), rewired, synthesis, unused)
    if not (added or change.dropped or rewired or synthesis is not None or unused):
        return None
    begun = before.begun
    faults = [f"task {name!r} has begun and cannot be changed: it is {begun[name]}" for name in edited if name in begun]
    sound = [name for name in edited if name not in begun]
    change_alone = Change(tuple(task for task in added if task.id not in begun), (*dropped, *sound), rewired, synthesis)
    faults += problems(change_alone, before.whole, begun, known, edited=sound)
    faults += [
        f"no task uses the skill {one.skill!r} any more, which every plan must use ([skills] require)"
        for one in required.lost(before.whole, change.applied(before.whole), must_use)
    ]
    if faults:
        raise InputError(f"the plan {where} cannot be used: {'; '.join(faults)}", hint=_HINT)
    return PlanChanged("person", None, added, change.dropped, rewired, synthesis, "edited", unused)


def _replacements(before: PlanInHand, old: Mapping[str, Task], new: Mapping[str, Task]) -> dict[str, str]:
    """Return the failed tasks that were deleted, each with the task that its dependents depend on now."""
    replaced: dict[str, str] = {}
    added = [name for name in new if name not in old]
    for name in old:
        if name in new or before.begun.get(name) != "failed":
            continue
        waiting = [task for task in old.values() if name in task.depends_on and task.id in new]
        takers = [set(new[task.id].depends_on) - set(task.depends_on) for task in waiting]
        common = set.intersection(*takers) if takers else set(added)
        if len(common) == 1:
            replaced[name] = common.pop()
    return replaced
