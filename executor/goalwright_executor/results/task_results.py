"""The results of tasks as other tasks read them: outputs, statuses and numbers of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_executor.results.outcome import STATUS, Done, Outcome, Unneeded, output_of
from goalwright_planner.plan import fan_out
from goalwright_planner.plan.references import field_of
from goalwright_planner.plan.task_id import number_of, parent_of
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goalwright_planner.plan.references import Reference


class MissingField(GoalwrightError):
    """A task refers to a value that an earlier task does not have."""

    code = "MISSING_FIELD"


class TaskResults(dict[str, str]):
    """Outputs by task id, with the `outcomes` of all ended tasks.

    A failed task has an output only if its last result was kept.
    """

    def __init__(self, outcomes: Mapping[str, Outcome]) -> None:
        outputs = ((name, output_of(end)) for name, end in outcomes.items())
        super().__init__({name: output for name, output in outputs if output is not None})
        self.outcomes = outcomes


def done_among(names: Iterable[str], results: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tasks that are done, without failed ones that kept a result."""
    if not isinstance(results, TaskResults):
        return tuple(name for name in names if name in results)
    return tuple(name for name in names if isinstance(results.outcomes.get(name), Done))


def is_known(reference: Reference, results: Mapping[str, str]) -> bool:
    """Whether the referenced task exists; a text may quote references to unknown tasks."""
    return not isinstance(results, TaskResults) or reference.id in results.outcomes


def value_of(reference: Reference, results: Mapping[str, str]) -> Any:
    """Return the value of a reference: empty text if its task was not needed; raises MissingField if there is none."""
    if reference.part == "status":
        return _status(reference, results)
    if reference.of not in results:
        return _without_output(reference, results)
    if reference.part == "count":
        return _count(reference, results)
    try:
        return field_of(results[reference.of], reference.path)
    except ValueError as error:
        raise MissingField(f"{reference} cannot be read: {error}") from error


def _outcome(reference: Reference, results: Mapping[str, str]) -> Outcome | None:
    if isinstance(results, TaskResults):
        return results.outcomes.get(reference.of)
    return Done(results[reference.of]) if reference.of in results else None


def _status(reference: Reference, results: Mapping[str, str]) -> str:
    outcome = _outcome(reference, results)
    status = STATUS.get(type(outcome)) if outcome is not None else None
    if status is None:
        raise MissingField(f"{reference} cannot be read: {_no_item(reference, results)}")
    return status


def _without_output(reference: Reference, results: Mapping[str, str]) -> Any:
    """Return the value for a missing result: empty if its task was not needed, or its failure was handled."""
    outcome = _outcome(reference, results)
    if reference.part == "count":
        if outcome is None or isinstance(outcome, Unneeded):
            return 0
        raise MissingField(f"{reference} cannot be read: {_no_result(reference, outcome)}")
    if reference.item is None or isinstance(outcome, Unneeded):
        return ""
    why = _no_item(reference, results) if outcome is None else _no_result(reference, outcome)
    raise MissingField(f"{reference} cannot be read: {why}")


def _no_result(reference: Reference, outcome: Outcome) -> str:
    return f"{reference.of!r} has no result: {'' if isinstance(outcome, Done) else outcome.error}"


def _no_item(reference: Reference, results: Mapping[str, str]) -> str:
    if reference.item is None:
        return f"{reference.id!r} has not ended"
    ends = results.outcomes if isinstance(results, TaskResults) else results
    items = sum(parent_of(name) == reference.id and number_of(name) is not None for name in ends)
    return f"{reference.id!r} has {counted(items, 'item')}, and the first is [1]"


def _count(reference: Reference, results: Mapping[str, str]) -> int:
    """Return how many items a task with `for_each` over this result would have."""
    ends = results.outcomes if isinstance(results, TaskResults) else results
    if items := [name for name in ends if parent_of(name) == reference.of and number_of(name) is not None]:
        return len(done_among(items, results))
    try:
        return len(fan_out.read_list(results[reference.of]))
    except fan_out.NotAList as error:
        raise MissingField(f"{reference} cannot be read: {error}") from error
