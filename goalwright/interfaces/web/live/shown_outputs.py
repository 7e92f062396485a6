"""What the commands of this process's runs have written so far, for a page that is opened while they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.events import TaskFinished, ToolCalled, ToolOutput

if TYPE_CHECKING:
    from goalwright_planner.events import Event

_LONGEST = 20_000


class ShownOutputs:
    """The end of what the command of each task has written; its result takes the place of it."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str | None, ToolOutput]] = {}

    def note(self, run_id: str, event: Event) -> None:
        """Keep a piece, or drop what a task's command has written when it has ended."""
        match event:
            case ToolOutput(task=task, name=name, text=text):
                kept = self._kept.setdefault(run_id, {})
                before = kept[task].text if task in kept else ""
                kept[task] = ToolOutput(task, name, (before + text)[-_LONGEST:])
            case ToolCalled(task=task) | TaskFinished(task=task):
                self._kept.get(run_id, {}).pop(task, None)
            case _:
                pass

    def of(self, run_id: str) -> list[ToolOutput]:
        """What the commands of a run have written so far."""
        return list(self._kept.get(run_id, {}).values())

    def forget(self, run_id: str) -> None:
        """The run has ended."""
        self._kept.pop(run_id, None)
