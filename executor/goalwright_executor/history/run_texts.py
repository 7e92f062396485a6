"""The texts that a run is found by, each with what it is of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from goalwright_planner.events import PlanMade, RunFinished, RunStarted, TaskFinished, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_executor.stores.store import Store
    from goalwright_planner.events import Event
    from goalwright_planner.plan.task import Task

# How much of one text counts, in characters.
LONG = 40_000
SHORT = 1_000
_TASKS = ("run_started", "plan_made", "plan_changed", "task_finished")


class RunText(NamedTuple):
    """A text, and what it is of a run."""

    where: str
    text: str


def ended(store: Store, run_id: str) -> Iterator[RunText]:
    """What a run came to: its answer, error and question."""
    for row in store.rows(run_id, types=("run_finished",)):
        match decode(row.type, row.body):
            case RunFinished(answer=answer, error=error, question=question):
                yield RunText("answer", (answer or "")[:LONG])
                yield RunText("error", (error or "")[:SHORT])
                yield RunText("question", (question or "")[:SHORT])
            case _:
                pass


def tasks(store: Store, run_id: str) -> Iterator[RunText]:
    """What its tasks are called, and what went wrong in them."""
    for row in store.rows(run_id, types=_TASKS):
        event = decode(row.type, row.body)
        if event is None:
            continue
        yield from (RunText("task", title) for title in titles(event))
        if isinstance(event, TaskFinished) and event.error:
            yield RunText("error of a task", event.error[:SHORT])


def titles(event: Event) -> Iterator[str]:
    """The titles and values of the tasks that an event brings."""
    added: Sequence[Task] = getattr(event, "added", ())
    if isinstance(event, PlanMade | RunStarted) and event.plan is not None:
        added = event.plan.tasks
    for task in added:
        yield task.title[:SHORT]
        if task.item is not None:
            yield str(task.item.value)[:SHORT]
