"""The port through which the scheduler finds tasks that were finished before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.plan.task import Task


class Finished(Protocol):
    """Finds tasks that were finished before, in this run or in the one that it reuses."""

    def inputs(self, task: Task, results: Mapping[str, str]) -> str:
        """Return the hash of a task's inputs."""

    def output(self, task: Task, inputs: str) -> str | None:
        """Return the task's output, if it was finished with these inputs."""

    def grows_again(self, task: Task) -> bool:
        """Whether a finished task had items of its own, which the rest of the plan may need."""


class _Nothing:
    def inputs(self, task: Task, results: Mapping[str, str]) -> str:
        return ""

    def output(self, task: Task, inputs: str) -> str | None:
        return None

    def grows_again(self, task: Task) -> bool:
        return False


NOTHING: Finished = _Nothing()
