"""The skills of a workspace, and the selection among them, which needs no plan, prompt or model."""

from __future__ import annotations

import os
from functools import cached_property, partial
from typing import TYPE_CHECKING

from weft_skills.discovery.index import cache_folder
from weft_skills.discovery.registry import Registry
from weft_skills.errors import InputError
from weft_skills.selection import detectors
from weft_skills.selection.detector import Selection, merge
from weft_skills.text.nearest import nearest_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from weft.settings.paths import Paths
    from weft.settings.settings import Settings
    from weft_skills.selection.detector import SkillDetector
    from weft_skills.selection.language import Foreign
    from weft_skills.selection.ranked import RankedDetector
    from weft_skills.skill import Skill


def _skill_files(use: Mapping[str, Path]) -> dict[str, Path]:
    from weft.workspace.substitute import skill_file

    return {name: skill_file(name, path) for name, path in use.items()}


def _substituting(use: Mapping[str, Path]) -> Callable[..., Registry]:
    from weft.workspace.substitute import SubstitutingRegistry

    return partial(SubstitutingRegistry, files=use)


class WorkspaceSkills:
    """The skills to select from, and the detector that selects; `use` replaces skills by files."""

    def __init__(self, paths: Paths, settings: Settings, use: Mapping[str, Path] | None = None) -> None:
        self._cache = cache_folder(paths.workspace)
        self.detector_name = settings.detector
        self.offered = settings.tool_set
        self.use = _skill_files(use) if use else {}
        make = _substituting(self.use) if self.use else Registry
        options = {"strict": settings.strict_skills, "cache": self._cache, **paths.skill_roots(os.environ)}
        self.registry: Registry = make(paths.workspace, **options)

    @cached_property
    def detector(self) -> SkillDetector:
        """The configured detector."""
        return detectors.detector(self.detector_name, cache=self._cache)

    def warm(self) -> None:
        """Find the skills and index them, so that the first goal does not have to."""
        if self.detector_name != detectors.ASKING and (warm := getattr(self.detector, "warm", None)) is not None:
            warm(self.active())

    def active(self) -> list[Skill]:
        """The active skills that have a SKILL.md, refreshed."""
        self.registry.refresh()
        return [skill for skill in self.registry.list_skills() if skill.kind == "context"]

    @cached_property
    def ranked(self) -> RankedDetector:
        """The detector that needs no model, for a ranking beside or instead of another's."""
        from weft_skills.selection.ranked import RankedDetector

        own = self.detector if self.detector_name == detectors.DEFAULT else None
        return own if isinstance(own, RankedDetector) else RankedDetector(self._cache)

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """The languages of goal and skills, if they differ and the configured detector finds skills by words."""
        by_words = self.detector_name in (detectors.DEFAULT, detectors.ASKING)
        return self.ranked.foreign(goal, skills) if by_words else None

    def select(
        self, goal: str, forced: Sequence[str], skills: Sequence[Skill], detector: SkillDetector | None = None
    ) -> list[Selection]:
        """The skills requested by name, then those that the detector finds."""
        self.check(forced, skills)
        requested = [Selection(name, 1.0, "asked for by name", certain=True) for name in dict.fromkeys(forced)]
        names = {skill.name for skill in skills}
        selections = (detector or self.detector).detect(goal, skills)
        return merge(requested, [selection for selection in selections if selection.name in names])

    def check(self, forced: Sequence[str], skills: Sequence[Skill]) -> None:
        """Raise if a requested skill does not exist."""
        names = [skill.name for skill in skills]
        for name in forced:
            if name not in names:
                near = nearest_names(name, names)
                raise InputError(f"there is no skill {name!r}; known skills: {near}", hint="use one of these names")

    def best(
        self, goal: str, skills: Sequence[Skill], most: int, detector: SkillDetector | None = None
    ) -> list[Selection]:
        """The best skills, without a threshold."""
        return detectors.top(detector or self.detector, goal, skills, most)
