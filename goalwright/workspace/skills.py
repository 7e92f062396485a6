"""The skills of a workspace, and the selection among them, which needs no plan, prompt or model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from goalwright_skills.discovery.index import cache_folder
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.errors import InputError
from goalwright_skills.preferences import Preferences
from goalwright_skills.selection import detectors
from goalwright_skills.selection.detector import Selection, merge
from goalwright_skills.skill import INVOCABLE_KEY
from goalwright_skills.text.nearest import nearest_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.selection.query.language import Foreign
    from goalwright_skills.selection.ranked import RankedDetector
    from goalwright_skills.skill import Skill


REQUIRED = "required by [skills] in the settings"


def _skill_files(use: Mapping[str, Path]) -> dict[str, Path]:
    from goalwright.workspace.substitute import skill_file

    return {name: skill_file(name, path) for name, path in use.items()}


def _substituting(use: Mapping[str, Path]) -> Callable[..., Registry]:
    from goalwright.workspace.substitute import SubstitutingRegistry

    return partial(SubstitutingRegistry, files=use)


def _matter(skill: Skill) -> str:
    """Why a skill that is disabled or broken cannot be used, to be said of it."""
    return f"broken: {skill.reason}" if skill.state == "broken" else skill.reason or "disabled"


@dataclass(frozen=True, slots=True)
class SplitSkills:
    """Skills, those that a detector may select, and those that are used only by name."""

    every: list[Skill]
    selectable: Sequence[Skill]
    by_name_only: Sequence[Skill]

    @classmethod
    def of(cls, skills: Sequence[Skill], preferences: Preferences) -> SplitSkills:
        """The skills as the user's settings and their authors have them."""
        every, selectable = list(skills), preferences.selectable(skills)
        if len(selectable) == len(every):
            return cls(every, every, ())
        return cls(every, selectable, preferences.by_name_only(skills))


class WorkspaceSkills:
    """The skills to select from, and the detector that selects.

    `use` replaces skills by files; `functions` are the names of the program's own tools, which may be switched off.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        use: Mapping[str, Path] | None = None,
        functions: Collection[str] = (),
    ) -> None:
        paths = paths if paths.skills_dir is not None else paths.with_skills(settings.skills_dir)
        self._cache = cache_folder(paths.workspace)
        self.detector_name = settings.detector
        self.offered = settings.tool_set
        self._functions = functions
        self.use = _skill_files(use) if use else {}
        make = _substituting(self.use) if self.use else Registry
        self.preferences = settings.skill_preferences
        options = {
            "strict": settings.strict_skills,
            "cache": self._cache,
            "off": self.preferences.off,
            "without": self.preferences.without,
            **paths.skill_roots(os.environ),
        }
        self.registry: Registry = make(paths.workspace, **options)
        self._found: tuple[int, SplitSkills] | None = None

    @cached_property
    def detector(self) -> SkillDetector:
        """The configured detector."""
        return detectors.detector(self.detector_name, cache=self._cache)

    def warm(self) -> None:
        """Find the skills and index them, so that the first goal does not have to."""
        if self.detector_name != detectors.ASKING and (warm := getattr(self.detector, "warm", None)) is not None:
            warm(self.split(self.active()).selectable)

    def active(self) -> list[Skill]:
        """The active skills that have a SKILL.md, refreshed."""
        self.registry.refresh()
        if self._found is None or self._found[0] != self.registry.version:
            rows = [skill for skill in self.registry.list_skills() if skill.kind == "context"]
            self._found = self.registry.version, SplitSkills.of(rows, self.preferences)
        return self._found[1].every

    def split(self, skills: Sequence[Skill]) -> SplitSkills:
        """Skills by who may choose them; kept for the active ones, since there may be tens of thousands."""
        if self._found is not None and self._found[1].every is skills:
            return self._found[1]
        return SplitSkills.of(skills, self.preferences)

    @cached_property
    def ranked(self) -> RankedDetector:
        """The detector that needs no model, for a ranking beside or instead of another's."""
        from goalwright_skills.selection.ranked import RankedDetector

        own = self.detector if self.detector_name == detectors.DEFAULT else None
        return own if isinstance(own, RankedDetector) else RankedDetector(self._cache)

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """The languages of goal and skills, if they differ and the configured detector finds skills by words."""
        by_words = self.detector_name in (detectors.DEFAULT, detectors.ASKING)
        return self.ranked.foreign(goal, skills) if by_words else None

    @property
    def unindexed(self) -> int:
        """How many skills the last goal was compared with by name and description alone, the index being made."""
        return self.ranked.unindexed if self.detector_name in (detectors.DEFAULT, detectors.ASKING) else 0

    @property
    def index_notes(self) -> list[str]:
        """That many skills are not indexed yet, if that is so."""
        missing, total = self.unindexed, len(self.active()) if self.unindexed else 0
        note = (
            f"{missing:,} of {total:,} skills are not indexed yet, and were looked at by name and description alone: "
            "the index is being made in the background, and more may be found when it is done"
        )
        return [note] if missing else []

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the user's own lists of skills."""
        if self.preferences == Preferences():
            return []
        from goalwright_skills.discovery.listing import MAX_SKILLS  # here, since most users decide nothing
        from goalwright_skills.functions import installed

        own = {switch for name in self._functions for switch in installed.switches(name)}
        pinned = len(self.preferences.pin)
        many = (
            f"[skills] pin names {pinned} skills, and a listing has {MAX_SKILLS} at most: the last ones may be left out"
        )
        faults = self.preferences.faults(self.registry.list_skills(all=True), own | installed.switch_names())
        return [*faults, *([many] if pinned > MAX_SKILLS else [])]

    def select(
        self,
        goal: str,
        forced: Sequence[str],
        skills: Sequence[Skill],
        detector: SkillDetector | None = None,
        *,
        required: Sequence[str] | None = None,
        nameable: Collection[str] | None = None,
    ) -> list[Selection]:
        """The skills requested by name, then those that plans must use, then those that the detector finds.

        Plans must use those of the settings, unless others are given as `required`. Of the skills that are used only by
        name, the goal can name those in `nameable`; None: all.
        """
        self.check(forced, skills)
        known = {skill.name for skill in skills}
        requested = [Selection(name, 1.0, "asked for by name", certain=True) for name in dict.fromkeys(forced)]
        demanded = self.preferences.required if required is None else required
        always = [Selection(name, 1.0, REQUIRED, certain=True) for name in demanded if name in known]
        found = self._detected(goal, skills, detector or self.detector, nameable)
        return merge(merge(requested, always), [selection for selection in found if selection.name in known])

    def _detected(
        self, goal: str, skills: Sequence[Skill], detector: SkillDetector, nameable: Collection[str] | None
    ) -> list[Selection]:
        """What a detector selects, behind the skills that the goal names.

        Without those that the goal says not to use. Detectors of other packages need not know of either.
        """
        from goalwright_skills.selection.query import triggers  # here, since a list of skills needs none

        offered, named, text = self._offered(goal, skills, nameable)
        named, refused = merge(named, triggers.named(text, offered)), self.refused(goal, offered)
        return merge(named, [found for found in detector.detect(text, offered) if found.name not in refused])

    def refused(self, goal: str, skills: Sequence[Skill]) -> set[str]:
        """The skills that the goal says not to use."""
        from goalwright_skills.selection.query import triggers  # here, since a list of skills needs none

        return triggers.refused(goal, skills)

    def _offered(
        self, goal: str, skills: Sequence[Skill], nameable: Collection[str] | None
    ) -> tuple[Sequence[Skill], list[Selection], str]:
        """What a detector may select, what the goal names of the rest, and the goal without those names."""
        split = self.split(skills)
        by_name = [skill for skill in split.by_name_only if nameable is None or skill.name in nameable]
        if not by_name:
            return split.selectable, [], goal
        from goalwright_skills.selection.query import triggers  # here, as below: a list of skills needs none

        named = triggers.named(goal, by_name, bare=True)
        return split.selectable, named, triggers.without_names(goal, by_name, bare=True)

    def check(self, forced: Sequence[str], skills: Sequence[Skill]) -> None:
        """Raise if a requested skill does not exist, or is not for people to call."""
        if not forced:
            return
        self.check_known(forced, skills)
        for fault in self.uncallable(forced, skills):
            raise InputError(
                fault,
                hint="leave the name out (it is selected where it fits, unless it is manual), or remove that line",
            )

    def uncallable(self, names: Sequence[str], skills: Sequence[Skill]) -> list[str]:
        """For each skill among these names that is not for people to call, that its author says so."""
        return [
            f"the skill {skill.name!r} is not called by name: {skill.file} says `{INVOCABLE_KEY}: false`"
            for skill in skills
            if not skill.user_invocable and skill.name in names
        ]

    def still_called(self, names: Sequence[str], skills: Sequence[Skill]) -> list[str]:
        """Of the skills that a recorded run was asked for by name, those that are there and may be called today."""
        there = {skill.name for skill in skills if skill.user_invocable} if names else ()
        return [name for name in names if name in there]

    def check_known(self, names: Sequence[str], skills: Sequence[Skill]) -> None:
        """Raise if a skill does not exist."""
        known = [skill.name for skill in skills]
        for name in names:
            if name not in known:
                near = nearest_names(name, known)
                why = self.unusable.get(name)
                what = f"the skill {name!r} is {why}" if why else f"there is no skill {name!r}"
                hint = "put that right, or use one of these names" if why else "use one of these names"
                raise InputError(f"{what}; known skills: {near}", hint=hint)

    def why_absent(self, name: str) -> str:
        """Why a name is not that of an active skill."""
        from goalwright_skills.functions import installed

        rows = self.registry.list_skills(all=True)
        for row in rows:
            if row.name == name:
                return "it is a tool" if row.kind == "executable" else f"it is {row.state} ({row.reason})"
        if name in installed.names():
            return "it is a tool"
        active = [row.name for row in rows if row.state == "active"]
        return f"there is no such skill; known skills: {nearest_names(name, active)}"

    @property
    def unusable(self) -> dict[str, str]:
        """The skills that are disabled or broken, each with what is the matter: `disabled by …`, `broken: …`."""
        return {row.name: _matter(row) for row in self._unusable()}

    def _unusable(self) -> Iterator[Skill]:
        """The skills that are disabled or broken, the strongest of each name, unless another one is used by it."""
        told: set[str] = set()
        for row in self.registry.list_skills(all=True):
            aside = row.kind == "context" and row.state in ("disabled", "broken") and row.name not in told
            if aside and self.registry.get(row.name) is None:
                told.add(row.name)
                yield row

    def named_in_vain(self, goal: str, skills: Sequence[Skill]) -> list[str]:
        """A warning for each skill that the goal asks for by name and that is not used for that."""
        from goalwright_skills.selection.query import triggers

        manual = self.preferences.is_manual
        uncallable = [
            f"the goal names {skill.name}, which is not called by name ({skill.file} says `{INVOCABLE_KEY}: false`); "
            + ("it is manual too: only your own plan uses it" if manual(skill) else "it is selected only where it fits")
            for skill in triggers.mentioned(goal, skills)
            if not skill.user_invocable
        ]
        unusable = [
            f"the goal names {skill.name!r}, which is {_matter(skill)}; it is not used"
            for skill in triggers.mentioned(goal, self._unusable())
        ]
        return [*uncallable, *unusable]

    def unnameable(self, goal: str, skills: Sequence[Skill], nameable: Collection[str] | None) -> list[str]:
        """A warning for each skill that a sub-goal names and that only the goal of its run could."""
        if nameable is None:
            return []
        from goalwright_skills.selection.query import triggers

        withheld = [skill for skill in self.split(skills).by_name_only if skill.name not in nameable]
        return [
            f"a sub-goal names {found.name}, which is used only if you name it, so it was planned without it; "
            f"to use it, name it in the goal, or pass --skill {found.name}"
            for found in triggers.named(goal, withheld, bare=True)
        ]

    def best(
        self,
        goal: str,
        skills: Sequence[Skill],
        most: int,
        detector: SkillDetector | None = None,
        *,
        nameable: Collection[str] | None = None,
    ) -> list[Selection]:
        """The best skills, without a threshold; `nameable` as for `select`."""
        offered, named, text = self._offered(goal, skills, nameable)
        if refused := self.refused(goal, offered):
            found = detectors.top(detector or self.detector, text, offered, most + len(refused))
            return merge(named, [one for one in found if one.name not in refused])[:most]
        return merge(named, detectors.top(detector or self.detector, text, offered, most))[:most]
