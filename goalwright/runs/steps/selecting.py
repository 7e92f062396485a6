"""The first step of a run: lists the skills and tools for its goal, and selects skills."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright.runs.goal import NO_GOAL
from goalwright.workspace.goal_keywords import NoKeywords, ask_for_keywords
from goalwright.workspace.goal_selection import GoalSelection
from goalwright.workspace.llm_detector import BlockingModel, LlmDetector
from goalwright.workspace.planned_selection import PLAN, PlannedSelection, planned_skills
from goalwright.workspace.tool_choice import McpChoice
from goalwright_planner.errors import ModelError
from goalwright_planner.events import CatalogueTaken, SkillsSelected, Warned
from goalwright_skills.discovery.needs import WEB
from goalwright_skills.selection import detectors
from goalwright_skills.selection.ranked import TranslatedDetector

if TYPE_CHECKING:
    from goalwright.runs.run_context import RunContext
    from goalwright.workspace.workspace import Catalogue
    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.selection.query.language import Foreign

_HOST = re.compile(r"https?://(?:[^\s/?#@]*@)?([\w.-]+)", re.IGNORECASE)
# Data that changes daily, and words that ask for the current state.
_CHANGING = re.compile(
    r"\b(?:weather|forecast|temperature|news|headlines?|traffic|(?:stock|share|bitcoin|gold|oil|house)\s+prices?"
    r"|exchange\s+rates?|interest\s+rates?|(?:match|game|football)\s+(?:results?|scores?)|flight\s+status)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:today(?:'s|’s)?|tonight|tomorrow|yesterday|right\s+now|at\s+the\s+moment|current(?:ly)?|latest"
    r"|this\s+(?:morning|afternoon|evening|week)|up[\s-]to[\s-]date|live)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Selecting:
    """Selects skills for the goal of the context, or uses the recorded selection.

    For a sub-goal, `task` is its id and `mcp` are the MCP tools of the run. `named` are the manual skills that the
    run's goal names; the sub-goal can name no others, since a model or data may have written it.
    """

    context: RunContext
    task: str | None = None
    mcp: McpChoice | None = None
    named: frozenset[str] | None = None

    async def catalogue(self, *, ask: bool = True) -> Catalogue:
        """Return the skills and tools for this goal; a resumed run keeps the recorded selection and listings."""
        if self.mcp is None:
            return await replace(self, mcp=await self._mcp_tools()).catalogue(ask=ask)
        recorded, selected = self._recorded
        if recorded is not None and selected is not None:
            catalogue, _ = await self._select(ask=False, keywords=selected.keywords)
            return _as_recorded(catalogue, recorded, selected)
        catalogue, keywords = await self._select(ask=ask and selected is None)
        record = self.context.memo.recorded
        for warning in catalogue.warnings:
            record(Warned(warning))
        taken = record(await self._taken(catalogue))
        detector = PLAN if self._planned is not None else self.context.settings.detector
        encoder = self.context.workspace.skills.ranked.encoder if detector != PLAN else ""
        chosen = SkillsSelected(
            detector,
            catalogue.selections,
            len(catalogue.skills),
            keywords,
            self.task,
            encoder=encoder,
            unindexed=self.context.workspace.skills.unindexed if detector != PLAN else 0,
        )
        return _as_recorded(catalogue, taken, record(chosen))

    @property
    def _recorded(self) -> tuple[CatalogueTaken | None, SkillsSelected | None]:
        inputs = self.context.history.inputs
        return inputs.catalogues.get(self.task), inputs.selections.get(self.task)

    async def _taken(self, catalogue: Catalogue) -> CatalogueTaken:
        listings = catalogue.skill_listing, catalogue.tool_listing
        if self.task is not None:  # the run has recorded the fingerprints and the tools
            return CatalogueTaken((), *listings, task=self.task)
        workspace = self.context.workspace
        prints = workspace.fingerprints.known(catalogue.skills)
        if prints is None:
            prints = await asyncio.to_thread(workspace.take_fingerprints, catalogue)
        functions = workspace.tools.function_specs
        return CatalogueTaken(
            prints, *listings, functions, mcp=catalogue.goal.mcp.tools, prompts=catalogue.goal.mcp.prompts
        )

    async def _select(self, *, ask: bool, keywords: str = "") -> tuple[Catalogue, str]:
        """Return today's skills and tools, and the keywords that were used for the selection.

        Without `ask`, the ranked detector replaces a detector that would ask a model.
        """
        if self._planned is not None:
            return await self._take(self._planned), ""
        ranked, warning = self.context.workspace.skills.ranked, ""
        catalogue = await self._take(ranked if self.asks else None)
        if ask and (foreign := self.translated(catalogue)) is not None:
            keywords, warning = await self._keywords(foreign)
        translated = TranslatedDetector(ranked, keywords) if keywords else None
        if self.asks and ask:
            catalogue = await self._picked(translated)
        elif translated is not None:
            catalogue = await self._take(translated)
        indexing = self.context.workspace.skills.index_notes if self.task is None else []
        notes = filter(
            None, (warning or language_note(catalogue), web_note(self.context.goal.text, catalogue), *indexing)
        )
        return replace(catalogue, warnings=(*catalogue.warnings, *notes)), keywords

    async def _mcp_tools(self) -> McpChoice:
        """Return the recorded MCP tools of this run, or the ones that fit the goal now."""
        goal, workspace, recorded = self.context.goal, self.context.workspace, self.context.recorded.mcp
        if recorded is not None or not workspace.tools.has_mcp:
            return recorded or McpChoice()
        planned = goal.plan.tasks if goal.plan is not None else ()
        named = [*goal.skills, *(task.name for task in planned if task.action_type in ("tool", "skill") and task.name)]
        return await asyncio.to_thread(workspace.choose_mcp, goal.text, named)

    async def _take(self, detector: SkillDetector | None) -> Catalogue:
        return await asyncio.to_thread(self._catalogue_by, detector)

    def _catalogue_by(self, detector: SkillDetector | None) -> Catalogue:
        context = self.context
        request = GoalSelection(
            context.goal.text,
            context.goal.skills,
            context.settings.required_skills if self.task is None else (),
            self._nameable,
            context.recorded.is_begun,
            context.tool_set,
            self.mcp or McpChoice(),
        )
        return context.workspace.catalogue(request, detector)

    @property
    def _nameable(self) -> frozenset[str] | None:
        """The manual skills that a sub-goal can name, and the skills of a recorded selection."""
        selected = self.context.recorded.selections.get(self.task or "")
        if self.named is None or selected is None:
            return self.named
        return self.named.union(selection.name for selection in selected.selections)

    async def _picked(self, translated: TranslatedDetector | None) -> Catalogue:
        """Have a model pick skills."""
        workspace, models = self.context.workspace, self.context.models
        with BlockingModel(models.for_role("detector")) as model:
            detector = LlmDetector.of(workspace, models, workspace.unlocked(model), translated)
            loop = asyncio.get_running_loop()
            catalogue = await loop.run_in_executor(workspace.detector_threads, self._catalogue_by, detector)
        return replace(catalogue, warnings=(*catalogue.warnings, *detector.warnings))

    async def _keywords(self, foreign: Foreign) -> tuple[str, str]:
        """Ask a model for keywords in the skills' language; returns them, or a warning."""
        context = self.context
        await context.models.ready("detector")
        model = context.models.for_role("detector")
        try:
            return await ask_for_keywords(context.goal.text, foreign, model, context.prompts, self.task), ""
        except (ModelError, NoKeywords) as error:
            keywords = f"{foreign.skills} keywords"
            return "", f"the model gave no {keywords}, so skills are selected by the goal's own words: {error}"

    def translated(self, catalogue: Catalogue) -> Foreign | None:
        """Return the languages of a translation by a model; None if there is none."""
        context, foreign = self.context, catalogue.foreign
        if not context.settings.translate_goals or context.goal.plan is not None or foreign is None:
            return None
        return None if foreign.familiar or context.models.profile("detector").parts_by_rule else foreign

    @property
    def _planned(self) -> PlannedSelection | None:
        """The skills of the given plan, if it names any; without a goal, nothing is selected."""
        goal, ranked = self.context.goal, self.context.workspace.skills.ranked
        if goal.plan is not None and goal.text == NO_GOAL:
            return PlannedSelection(planned_skills(goal.plan), ranked)
        return PlannedSelection.of(goal.plan, ranked, certain=goal.recipe is not None)

    @property
    def asks(self) -> bool:
        """Whether a model selects the skills."""
        return self.context.settings.detector == detectors.ASKING and self._planned is None


def _as_recorded(catalogue: Catalogue, taken: CatalogueTaken, selected: SkillsSelected) -> Catalogue:
    """Return the catalogue with the recorded listings and selection."""
    return replace(
        catalogue, skill_listing=taken.skill_listing, tool_listing=taken.tool_listing, selections=selected.selections
    )


def language_note(catalogue: Catalogue) -> str:
    """Return why no skill fits, if the goal's language is the reason."""
    return catalogue.foreign.note if catalogue.foreign is not None and not catalogue.selections else ""


def web_note(goal: str, catalogue: Catalogue) -> str:
    """Return a warning if the goal needs the web and tasks have no access, because a model makes up missing data."""
    if WEB in catalogue.capabilities or catalogue.goal.mcp.tools:
        return ""
    if address := _HOST.search(goal):
        host = address.group(1).rstrip(".").lower()
        return f"the goal names {host}, but tasks have no web access: allow this host (allow_web)"
    if (data := _CHANGING.search(goal)) and _NOW.search(goal):
        name = " ".join(data.group().lower().split())
        return (
            f"the goal asks for current data ({name}), but tasks have no web access, and a model may make it up: "
            "provide the facts as a file, or allow a host (allow_web)"
        )
    return ""
