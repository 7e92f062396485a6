"""Folds of a run's events beside the ledger: its inputs, its plans and its calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.events import (
    CallBroken,
    CallFailed,
    CallFinished,
    CallStarted,
    CatalogueTaken,
    EarlierOutputRead,
    Event,
    FileRead,
    ImagesGiven,
    PlanMade,
    PlanRefused,
    RunResumed,
    RunStarted,
    SkillLoaded,
    SkillsSelected,
    TaskStarted,
)
from goalwright_planner.plan.references import earlier_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.model import Usage


@dataclass(slots=True)
class Inputs:
    """What a run and its tasks were given.

    `settings` are those of the start and of each resume. `catalogues` and `selections` are by sub-goal, None for the
    run itself; `skills` has the texts of loaded skills by task and name, `files` what tasks read by task and path, and
    `earlier_outputs` the results of earlier turns that tasks read. `images` came with the goal.
    """

    started: RunStarted | None = None
    settings: list[Mapping[str, Any]] = field(default_factory=list)
    catalogues: dict[str | None, CatalogueTaken] = field(default_factory=dict)
    selections: dict[str | None, SkillsSelected] = field(default_factory=dict)
    skills: dict[tuple[str | None, str], str] = field(default_factory=dict)
    files: dict[tuple[str, str], FileRead] = field(default_factory=dict)
    earlier_outputs: dict[str, str] = field(default_factory=dict)
    images: ImagesGiven | None = None

    def note(self, event: Event) -> None:
        """Add an event."""
        match event:
            case RunStarted():
                self.started = event
                self.settings.append(event.settings)
            case RunResumed():
                self.settings.append(event.settings)
            case CatalogueTaken():
                self.catalogues[event.task] = event
            case SkillsSelected():
                self.selections[event.task] = event
            case SkillLoaded():
                self.skills[event.task, event.name] = event.content
            case FileRead():
                self.files[event.task, event.path] = event
            case EarlierOutputRead():
                self.earlier_outputs[earlier_id(event.turn, event.task)] = event.text
            case ImagesGiven():
                self.images = event
            case _:
                pass


@dataclass(slots=True)
class Plans:
    """The plans that were made, and how each answer of the planner was read.

    All plans but the last were questions that were answered. `readings` are by sub-goal and number of the change.
    `has_begun` is whether a task has started since the last plan was made.
    """

    made: list[PlanMade] = field(default_factory=list)
    readings: dict[tuple[str | None, int | None], list[PlanMade | PlanRefused]] = field(default_factory=dict)
    has_begun: bool = False

    @property
    def last(self) -> PlanMade | None:
        """The last plan that was made, without later changes."""
        return self.made[-1] if self.made else None

    def note(self, event: Event) -> None:
        """Add an event."""
        match event:
            case PlanRefused():
                self._note_reading((event.task, event.change), event, event.attempt)
            case PlanMade():
                self.made.append(event)
                self.has_begun = False
                self._note_reading((None, None), event, event.attempts)
            case TaskStarted():
                self.has_begun = bool(self.made)
            case _:
                pass

    def _note_reading(self, key: tuple[str | None, int | None], event: PlanMade | PlanRefused, attempt: int) -> None:
        """Add how an answer was read; planning that failed or was interrupted starts again with the first attempt."""
        readings = self.readings.setdefault(key, [])
        while readings and isinstance(readings[-1], PlanRefused) and readings[-1].attempt >= attempt:
            readings.pop()
        readings.append(event)


@dataclass(slots=True)
class ModelCalls:
    """The model calls of a run: those that started, failed or broke off, and what they cost.

    `answered` has the key of the last reply by role and task, `settings_index` the index of the settings under which a
    role was last called. `paid` is the cost of each task's calls, and their tokens if the cost is unknown.
    """

    started: list[CallStarted] = field(default_factory=list)
    failed: dict[str, CallFailed] = field(default_factory=dict)
    broken: list[CallBroken] = field(default_factory=list)
    answered: dict[tuple[str, str | None], str] = field(default_factory=dict)
    settings_index: dict[tuple[str, str | None], int] = field(default_factory=dict)
    paid: dict[str, tuple[float, int]] = field(default_factory=dict)
    _resumes: int = 0

    def note(self, event: Event) -> None:
        """Add an event."""
        match event:
            case RunResumed():
                self._resumes += 1
            case CallStarted():
                self.started.append(event)
                self.settings_index[event.role, event.task] = self._resumes
            case CallFailed():
                self.failed[event.request] = event
            case CallFinished():
                self.answered[event.role, event.task] = event.request
                self._pay(event.task, event.reply.usage, event.reply.cost)
            case CallBroken():
                self.broken.append(event)
                self._pay(event.task, event.usage, event.cost)
            case _:
                pass

    def _pay(self, task: str | None, usage: Usage, cost: float | None) -> None:
        if task is not None:
            total, tokens = self.paid.get(task, (0.0, 0))
            self.paid[task] = total + (cost or 0.0), tokens + (usage.tokens if cost is None else 0)
