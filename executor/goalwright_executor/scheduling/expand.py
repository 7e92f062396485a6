"""Fan-out: a task with `for_each` continues in a subtask for each item of its list.

The items follow from the recorded list, so a resumed run creates the same tasks and finds them finished; a list that
has changed changes the plan.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from goalwright_executor.results import task_results
from goalwright_executor.results.outcome import Done, Grown, Outcome, Unneeded
from goalwright_executor.results.task_results import done_among
from goalwright_planner.events import PlanChanged, Warned
from goalwright_planner.plan import change, fan_out
from goalwright_planner.plan.conditions import value_of
from goalwright_planner.plan.output_schema import canonical
from goalwright_planner.plan.references import (
    ITEM,
    MISSING,
    NUMBER,
    REFERENCE,
    reference_of,
    references,
    strings,
    value_at,
)
from goalwright_planner.plan.task import Item
from goalwright_planner.plan.task_id import item_id, number_of, place_of, with_parents
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import counted, plural

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_executor.results.finished_work import FinishedPart
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.events import ChangeCause
    from goalwright_planner.events.event import Recorder
    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


@dataclass(slots=True)
class CurrentPlan:
    """The current plan of a run."""

    plan: Plan
    record: Recorder

    def change(self, event: PlanChanged) -> None:
        """Record a change of the plan, and apply it as recorded."""
        self.plan = self.record(event).applied(self.plan)

    def items(self, task_id: str, path: str, results: Mapping[str, str]) -> list[tuple[int, Any]]:
        """Return the numbered items in a task's output; a task that had items itself gives their outputs.

        Raises NotAList.
        """
        if not path and task_id in self.plan and self.plan.task(task_id).for_each is not None:
            parts = self.plan.parts_of(task_id)
            if parts:  # the last result of a failed part does not count
                done = done_among((part.id for part in parts), results)
                return [(number_of(part_id) or 0, results[part_id]) for part_id in done]
        value = value_at(results.get(task_id, ""), path)
        if value is MISSING:
            raise fan_out.NotAList(f"the output of {task_id!r} has no {path.lstrip('.')!r}")
        items = value if isinstance(value, list) else fan_out.read_list(value) if isinstance(value, str) else None
        if items is None:
            raise fan_out.NotAList(f"{path.lstrip('.')!r} in the output of {task_id!r} is not a list")
        return list(enumerate(items, 1))


class GrowthLimits(Protocol):
    """Limits the growth of a plan."""

    def fault(self, task: Task, added: Sequence[Task], plan: Plan) -> str | None:
        """Return why a task may not grow into its items; None if it may."""


@dataclass(frozen=True, slots=True)
class SetLimits:
    """The configured limits; a task that names a number of items may have more than `max_items`."""

    known: Known
    max_items: int

    def fault(self, task: Task, added: Sequence[Task], plan: Plan) -> str | None:
        """Return the first limit that is exceeded, with its setting."""
        if task.for_each is not None and task.first is None and len(added) > self.max_items:
            return (
                f"its list has {len(added):,} items, more than the {self.max_items:,} allowed; "
                "raise max_items, or take some of them with 'first'"
            )
        return next(change.growth_problems(added, plan, self.known), None)


@dataclass(frozen=True, slots=True)
class FanOut:
    """Expands tasks with `for_each`; replaced items are not run, unless it keeps them."""

    current: CurrentPlan
    memo: Memo
    limits: GrowthLimits
    keeps_replaced: bool = False

    def grow(self, task: Task, results: Mapping[str, str]) -> Grown:
        """Return the tasks for the items of a task's list; raises if there is no list, or one that is too long."""
        try:
            numbered = self._items(task, results)
        except fan_out.NotAList as error:
            raise GoalwrightError(f"'for_each' finds no list: {error}") from error
        taken = numbered[: task.first]
        parts = tuple(_part(task, number, value, results) for number, value in taken)
        parts = self.join(task, parts, left_out=len(numbered) - len(taken))
        if not self.keeps_replaced:
            parts = tuple(part for part in parts if part.id not in self.current.plan.replaced)

        async def finish(outcomes: Mapping[str, Outcome]) -> str | Unneeded:
            if parts and all(isinstance(outcomes[part.id], Unneeded) for part in parts):
                return Unneeded()
            return joined(parts, outcomes, as_json=task.output_schema is not None)

        return Grown(parts, finish, task.width)

    def _items(self, task: Task, results: Mapping[str, str]) -> list[tuple[int, Any]]:
        if not isinstance(task.for_each, str):
            return list(enumerate(task.for_each or (), 1))
        match = REFERENCE.fullmatch(task.for_each.strip())
        if match is None:
            raise fan_out.NotAList(f"{task.for_each!r:.80} is not a reference")
        reference = reference_of(match)
        if reference.of not in results:
            task_results.value_of(reference, results)  # raises if the item does not exist or failed
        value = value_of(reference)
        return self.current.items(value.of, value.path, results)

    def join(
        self, task: Task, parts: Sequence[Task], cause: ChangeCause = "for_each", left_out: int = 0
    ) -> tuple[Task, ...]:
        """Add the parts of a task to the plan, unless they are in it already; returns the parts in the plan."""
        before = {part.id: part for part in self.current.plan.parts_of(task.id)}
        added = tuple(part for part in parts if before.get(part.id) != part)
        kept = {part.id for part in parts} - {part.id for part in added}
        if added and (fault := self.limits.fault(task, added, self.current.plan)) is not None:
            raise GoalwrightError(fault)
        dropped = self._forgotten(before.keys() - kept)
        if added or dropped:
            self.current.change(PlanChanged(cause, task.id, added, dropped))
            if left_out:
                taken = f"the first {len(parts):,} of {counted(len(parts) + left_out, 'item')}"
                rest = f"{left_out:,} {plural(left_out, 'is', 'are')} left out"
                self.current.record(Warned(f"task {task.id!r} takes {taken}; {rest}"))
        joined_parts = self.current.plan.parts_of(task.id)
        self._reuse(joined_parts)
        return joined_parts

    def join_round(self, task: Task, again: Task) -> Task:
        """Add a round of a task to the plan, unless it is there; returns it as it is in the plan.

        A round that differs from the recorded one replaces it and all rounds after it.
        """
        plan = self.current.plan
        if self._has(again):
            return plan.task(again.id)
        later = {part.id for part in plan.rounds_of(task.id) if place_of(part.id) >= place_of(again.id)}
        dropped = self._forgotten(later)
        self.current.change(PlanChanged("repeat", task.id, (again,), dropped))
        return self.current.plan.task(again.id)

    def round_fault(self, task: Task, again: Task) -> str | None:
        """Return why a round of a task may not join the plan; None if it may, or is there."""
        return None if self._has(again) else self.limits.fault(task, (again,), self.current.plan)

    def _forgotten(self, parts: Collection[str]) -> tuple[str, ...]:
        """Return the ids of tasks that leave the plan with these parts; none of them is reused."""
        if not parts:
            return ()
        gone = {*parts}
        ids = tuple(task.id for task in self.current.plan.tasks if not gone.isdisjoint(with_parents(task.id)))
        for part_id in ids:
            self.memo.finished.reused.pop(part_id, None)
        return ids

    def _has(self, part: Task) -> bool:
        plan = self.current.plan
        return part.id in plan and plan.task(part.id) == part

    def _reuse(self, parts: Sequence[Task]) -> None:
        """Use the outputs of equal items in the run that this one partly repeats."""
        reused = self.memo.finished.reused
        for part, old in _equal(parts, self.memo.finished.parts).items():
            if part not in reused:
                reused[part] = old.reused.output
                self.memo.finished.files.add(part, old.reused.artifacts, old.reused.images)
                self.current.record(replace(old.reused, task=part))


def _part(task: Task, number: int, value: Any, results: Mapping[str, str]) -> Task:
    """Return the task for one item; it depends on tasks with a result, but on the list only if it mentions it."""
    listed = {reference.id for reference in references(task.for_each)} if isinstance(task.for_each, str) else set()
    excluded = listed - set(task.references)
    return replace(
        task,
        id=item_id(task.id, number),
        depends_on=tuple(name for name in done_among(task.depends_on, results) if name not in excluded),
        when=task.when if task.each_when else None,
        for_each=None,
        width=None,
        first=None,
        item=Item(value),
    )


def _equal(parts: Sequence[Task], finished: Sequence[FinishedPart]) -> dict[str, FinishedPart]:
    """Map each part to the finished one with the same content: the one with its id, else the next in order."""
    if not finished:
        return {}
    contents = {part.id: _content(part) for part in parts}
    before = [(old, _content(old.task)) for old in finished]
    equal = {old.task.id: old for old, content in before if contents.get(old.task.id) == content}
    left: dict[str, deque[FinishedPart]] = {}
    for old, content in before:
        if old.task.id not in equal:
            left.setdefault(content, deque()).append(old)
    for part in parts:
        if part.id not in equal and left.get(contents[part.id]):
            equal[part.id] = left[contents[part.id]].popleft()
    return equal


def _content(part: Task) -> str:
    """Return the content of an item's task, without its position in the list unless a text mentions it."""
    texts = strings((part.instruction, part.arguments, part.asked))
    numbered = any(match["path"] == NUMBER for text in texts for match in ITEM.finditer(text))
    document = part.to_dict() | {
        "id": part.id if numbered or number_of(part.id) is None else part.id.rpartition("[")[0]
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True)


def joined(parts: Sequence[Task], outcomes: Mapping[str, Outcome], *, as_json: bool = False) -> str:
    """Join the items' outputs; raises if there are items and none has an output.

    Outputs with a schema become a JSON list (`as_json`), with null for a failed item; others are joined under headings.
    Items that were not needed are left out.
    """
    parts = [part for part in parts if not isinstance(outcomes[part.id], Unneeded)]
    done = {part.id: outcome.output for part in parts if isinstance(outcome := outcomes[part.id], Done)}
    errors = [f"{part.id}: {outcome.error}" for part in parts if not isinstance(outcome := outcomes[part.id], Done)]
    if errors and not done:
        raise GoalwrightError(f"none of its {counted(len(parts), 'item')} has a result; {errors[0]}")
    if as_json:
        return canonical([json.loads(done[part.id]) if part.id in done else None for part in parts])
    texts = (
        f"### {fan_out.heading(part.item.value if part.item else '')}\n\n{done[part.id]}"
        for part in parts
        if part.id in done
    )
    return "\n\n".join(texts)
