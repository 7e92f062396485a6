"""How a task ended, or how it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from goalwright_planner.events import TaskFinished, TaskStatus
    from goalwright_planner.plan.task import Task


@dataclass(frozen=True, slots=True)
class Done:
    """It succeeded, with this output; by the `key`, if there is one, other runs find it."""

    output: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed; other tasks are not affected unless they depend on it. Its last result may be kept as `output`."""

    error: str
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """It was not done, because a task it depends on has no result or a person denied it."""

    error: str


@dataclass(frozen=True, slots=True)
class Unneeded:
    """It did not start, because its condition does not hold or nothing that it depends on was needed."""

    error: None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """It was stopped before it ended, by the user or a limit."""

    error: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """It waits for a person's answer; it goes on when the run is resumed with one."""

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
    """It goes on in tasks of its own, at most `width` at a time; once they have ended, `finish` gives its output."""

    tasks: tuple[Task, ...]
    finish: Callable[[Mapping[str, Outcome]], Awaitable[str | Outcome | Grown]]
    width: int | None = None


def output_of(outcome: Outcome | None) -> str | None:
    """What others can read of a task: its output, or the last result of one that failed."""
    return outcome.output if isinstance(outcome, Done | Failed) else None


def outcome_of(end: TaskFinished) -> Outcome:
    """How a task ended, by its event."""
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
    """Why a task will not run, from how its dependencies ended; None if it will.

    It runs if none of them failed and one or more is done; if none was needed, it is not needed either. A dependency
    whose status its condition reads does not keep it from running, however it ended.
    """
    for before in task.depends_on:
        if type(outcomes[before]) is not Done:
            break
    else:
        return None  # as nearly always
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
    """The tasks without a result whose failure was planned for, each with the task that did its part.

    That one's condition reads the status of the other, and it is done.
    """
    return {
        name: task.id
        for task in tasks
        if task.when is not None and status(task.id) == "done"
        for name in sorted(task.handles)
        if status(name) in ("failed", "skipped")
    }
