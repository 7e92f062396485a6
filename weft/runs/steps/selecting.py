"""The first step of a run: which skills and tools there are for its goal, and which of them are selected."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from planner import rules
from planner.events import CatalogueTaken, SkillsSelected, Warned
from skills.selection import detectors
from weft.workspace.blocking_model import BlockingModel
from weft.workspace.llm_detector import LlmDetector
from weft.workspace.planned_selection import PLAN, PlannedSelection

if TYPE_CHECKING:
    from executor.history.run_history import RunHistory
    from planner.events import Record
    from planner.prompting.models import Models
    from weft.runs.goal import Goal
    from weft.settings.settings import Settings
    from weft.workspace.recorded_selection import RecordedSelection
    from weft.workspace.workspace import Catalogue, Workspace


@dataclass(frozen=True, slots=True)
class Selecting:
    """Selects skills for a run's goal, or takes what is on record; `then` is what a replayed run of before selected.

    `offered` are the built-in tools of a run on record.
    """

    goal: Goal
    workspace: Workspace
    settings: Settings
    models: Models
    record: Record
    history: RunHistory
    rules: int
    then: RecordedSelection | None = None
    offered: tuple[str, ...] | None = None

    async def catalogue(self, *, ask: bool = True) -> Catalogue:
        """The skills and tools for this goal; a resumed run keeps the selection and the listings on record."""
        recorded, selected = self.history.catalogue, self.history.selected
        catalogue = await self._select(ask=ask and selected is None)
        if recorded is not None and selected is not None:
            catalogue = replace(catalogue, skill_listing=recorded.skill_listing, tool_listing=recorded.tool_listing)
            return replace(catalogue, selections=selected.selections)
        for warning in catalogue.warnings:
            self.record(Warned(warning))
        prints = self.workspace.fingerprints.known(catalogue.skills)
        if prints is None:
            prints = await asyncio.to_thread(self.workspace.take_fingerprints, catalogue)
        self.record(
            CatalogueTaken(prints, catalogue.skill_listing, catalogue.tool_listing, self.workspace.tools.own_specs)
        )
        detector = PLAN if self._planned is not None else self.settings.detector
        self.record(SkillsSelected(detector, catalogue.selections, len(catalogue.skills)))
        return catalogue

    async def _select(self, *, ask: bool) -> Catalogue:
        """The skills and tools as they are now; the ranked detector replaces one that may not ask its model."""
        workspace = self.workspace
        take = partial(workspace.catalogue, self.goal, made_by=self.rules, offered=self.offered)
        if self.then is not None:
            return await asyncio.to_thread(take, self.then, self.then.most)
        if self._planned is not None:
            return await asyncio.to_thread(take, self._planned)
        if not self.asks:
            return await asyncio.to_thread(take)
        if not ask:
            return await asyncio.to_thread(take, workspace.skills.ranked)
        with BlockingModel(self.models.for_role("detector")) as model:
            detector = LlmDetector.of(workspace, self.models, workspace.unlocked(model), self.rules)
            loop = asyncio.get_running_loop()
            catalogue = await loop.run_in_executor(workspace.detector_threads, take, detector)
        return replace(catalogue, warnings=(*catalogue.warnings, *detector.warnings))

    @property
    def _planned(self) -> PlannedSelection | None:
        """The skills of the plan that came with the goal, if it names any; runs of earlier rules selected others."""
        if self.then is not None or self.rules < rules.PLANNED_SKILLS:
            return None
        return PlannedSelection.of(self.goal.plan, self.workspace.skills.ranked)

    @property
    def asks(self) -> bool:
        """Whether a model is asked which skills fit."""
        return self.settings.detector == detectors.ASKING and self._planned is None
