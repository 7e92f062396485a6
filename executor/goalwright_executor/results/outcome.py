"""The outcomes of a task: how it ended, or how it continues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from goalwright_planner.events import TaskFinished, TaskStatus
    from goalwright_planner.plan.task import Task


@dataclass(frozen=True, slots=True)
class Done:
    """The task succeeded; other runs find its output by the `key`, if there is one."""

    output: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The task failed; only dependent tasks are affected. Its last result may be kept as `output`."""

    error: str
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """The task was not run, because a dependency has no result or a person denied it."""

    error: str


@dataclass(frozen=True, slots=True)
class Unneeded:
    """The task did not start, because its condition does not hold or none of its dependencies was needed."""

    error: None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user or a limit stopped the task."""

    error: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The task waits for a person's answer; it continues when the run is resumed with one."""

    error: str


Outcome = Done | Failed | Skipped | Unneeded | Cancelled | Waiting
STATUS: dict[type[Outcome], TaskStatus] = {
    Done: "done",
    Failed: "failed",
    Skipped: "skipped",
    Unneeded: "unneeded",
    Cancelled: "cancelled",
}
_BECAME: dict[type[Outcome], str] = {Failed: "failed", Skipped: "was skipped", Cancelled: "was cancelled"}


@dataclass(frozen=True, slots=True)
class Grown:
    """The task continues in subtasks, at most `width` at a time; when they have ended, `finish` gives its output."""

    tasks: tuple[Task, ...]
    finish: Callable[[Mapping[str, Outcome]], Awaitable[str | Outcome | Grown]]
    width: int | None = None


def output_of(outcome: Outcome | None) -> str | None:
    """Return a task's output, or the last result of a failed one."""
    return outcome.output if isinstance(outcome, Done | Failed) else None


def outcome_of(end: TaskFinished) -> Outcome:
    """Return the outcome in a recorded event."""
    match end.status:
        case "done":
            return Done(end.output or "", end.key)
        case "unneeded":
            return Unneeded()
        case "failed":
            return Failed(end.error or "", end.output)
        case "skipped":
            return Skipped(end.error or "")
        case _:
            return Cancelled(end.error or "")


def why_not(task: Task, outcomes: Mapping[str, Outcome]) -> Skipped | Unneeded | None:
    """Return why a task will not run, from the outcomes of its dependencies; None if it will.

    It runs if no dependency failed and at least one is done; if none was needed, it is not needed either. Dependencies
    whose status its condition reads never prevent it.
    """
    for before in task.depends_on:
        if type(outcomes[before]) is not Done:
            break
    else:
        return None  # the usual case
    read_anyway = task.reads_status_of
    without = [
        f"{before!r}, which {_BECAME[type(outcomes[before])]}"
        for before in dict.fromkeys(task.depends_on)
        if before not in read_anyway and not isinstance(outcomes[before], Done | Unneeded)
    ]
    if without:
        return Skipped(f"it depends on {', '.join(without)}")
    runs = any(before in read_anyway or isinstance(outcomes[before], Done) for before in task.depends_on)
    return None if runs else Unneeded()


def handled(tasks: Iterable[Task], status: Callable[[str], str | None]) -> dict[str, str]:
    """Map tasks without a result whose failure was planned for to the task that handled it.

    The handler's condition reads the status of the failed task, and the handler is done.
    """
    return {
        name: task.id
        for task in tasks
        if task.when is not None and status(task.id) == "done"
        for name in sorted(task.handles)
        if status(name) in ("failed", "skipped")
    }
