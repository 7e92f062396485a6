"""The skills of a workspace, and the selection among them for a goal; needs no plan, prompt or model."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from goalwright_skills.discovery.index import cache_folder
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.errors import InputError
from goalwright_skills.preferences import Preferences
from goalwright_skills.selection import detectors
from goalwright_skills.selection.detector import Selection, merge
from goalwright_skills.skill import INVOCABLE_KEY
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright.workspace.goal_selection import GoalSelection
    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.selection.query.language import Foreign
    from goalwright_skills.selection.ranked import RankedDetector
    from goalwright_skills.skill import Skill


REQUIRED = "required by [skills] in the settings"


@dataclass(frozen=True)
class SkillPool:
    """The active skills: a detector selects among the `selectable` ones, the `manual` ones are used only by name."""

    active: Sequence[Skill]
    selectable: Sequence[Skill]
    manual: Sequence[Skill] = ()

    @classmethod
    def of(cls, skills: Sequence[Skill], preferences: Preferences) -> SkillPool:
        """Divide skills by the settings of the user and their authors."""
        selectable = preferences.selectable(skills)
        if len(selectable) == len(skills):
            return cls(skills, skills)
        return cls(skills, selectable, preferences.by_name_only(skills))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the active skills."""
        return frozenset(skill.name for skill in self.active)


class WorkspaceSkills:
    """The skills to select from, and the configured detector.

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
        registry = _substituting(self.use) if self.use else Registry
        self.preferences = settings.skill_preferences
        options = {
            "strict": settings.strict_skills,
            "cache": self._cache,
            "off": self.preferences.off,
            "without": self.preferences.without,
            **paths.skill_roots(os.environ),
        }
        self.registry: Registry = registry(paths.workspace, **options)
        self._pool: tuple[int, SkillPool] | None = None

    @cached_property
    def detector(self) -> SkillDetector:
        """The configured detector."""
        return detectors.detector(self.detector_name, cache=self._cache)

    @cached_property
    def ranked(self) -> RankedDetector:
        """The detector that needs no model, for rankings beside the configured detector's."""
        from goalwright_skills.selection.ranked import RankedDetector

        configured = self.detector if self.detector_name == detectors.DEFAULT else None
        return configured if isinstance(configured, RankedDetector) else RankedDetector(self._cache)

    def warm(self) -> None:
        """Find and index the skills, so that the first goal does not have to."""
        if self.detector_name != detectors.ASKING and (warm := getattr(self.detector, "warm", None)) is not None:
            warm(self.pool().selectable)

    def pool(self) -> SkillPool:
        """Return the active skills that have a SKILL.md, after a refresh."""
        self.registry.refresh()
        if self._pool is None or self._pool[0] != self.registry.version:
            skills = [skill for skill in self.registry.list_skills() if skill.kind == "context"]
            self._pool = self.registry.version, SkillPool.of(skills, self.preferences)
        return self._pool[1]

    def active(self) -> Sequence[Skill]:
        """Return the active skills that have a SKILL.md, after a refresh."""
        return self.pool().active

    def request(self, text: str, names: Sequence[str] = (), *, limit: int | None = None) -> GoalSelection:
        """Return the selection request of a new goal, with the skills that the settings require."""
        from goalwright.workspace.goal_selection import GoalSelection  # here, since listing skills needs no selection

        request = GoalSelection(text, tuple(names), self.preferences.required)
        return request if limit is None else replace(request, limit=limit)

    def select(
        self, goal: GoalSelection, detector: SkillDetector | None = None, pool: SkillPool | None = None
    ) -> list[Selection]:
        """Return the requested skills, then the required ones, those that the goal names, and those that fit.

        Raises InputError if a requested skill does not exist or may not be called.
        """
        pool = pool or self.pool()
        requested = goal.skill_names
        if goal.begun:
            requested = self.still_called(requested, pool.active)
        self.check(requested, pool.active)
        selections = [Selection(name, 1.0, "asked for by name", certain=True) for name in dict.fromkeys(requested)]
        required = (Selection(name, 1.0, REQUIRED, certain=True) for name in goal.required if name in pool.names)
        named, text = _named(goal, pool)
        detected = (detector or self.detector).detect(text, pool.selectable)
        fitting = [selection for selection in merge(named, detected) if selection.name in pool.names]
        return merge(merge(selections, [*required]), fitting)

    def rank(
        self, goal: GoalSelection, detector: SkillDetector | None = None, pool: SkillPool | None = None
    ) -> list[Selection]:
        """Return the best skills up to the goal's limit, without a threshold."""
        pool = pool or self.pool()
        named, text = _named(goal, pool)
        return merge(named, detectors.top(detector or self.detector, text, pool.selectable, goal.limit))[: goal.limit]

    def foreign(self, goal: str, skills: Sequence[Skill]) -> Foreign | None:
        """Return the languages of goal and skills if they differ and the configured detector compares words."""
        return self.ranked.foreign(goal, skills) if self._compares_words else None

    @property
    def unindexed(self) -> int:
        """How many skills the last goal was compared with by name and description alone."""
        return self.ranked.unindexed if self._compares_words else 0

    @property
    def _compares_words(self) -> bool:
        return self.detector_name in (detectors.DEFAULT, detectors.ASKING)

    @property
    def index_notes(self) -> list[str]:
        """A warning if skills are not indexed yet."""
        if not (missing := self.unindexed):
            return []
        note = (
            f"{missing:,} of {len(self.active()):,} skills are not indexed yet and were compared by name and "
            "description alone; the index is being built in the background, and more skills may be found afterwards"
        )
        return [note]

    @property
    def warnings(self) -> list[str]:
        """Warnings about the user's lists of skills."""
        if self.preferences == Preferences():
            return []
        from goalwright_skills.discovery.listing import MAX_SKILLS  # here, since most users have no lists
        from goalwright_skills.functions import installed

        own = {switch for name in self._functions for switch in installed.switches(name)}
        faults = self.preferences.faults(self.registry.list_skills(all=True), own | installed.switch_names())
        pinned = len(self.preferences.pin)
        too_many = f"[skills] pin names {pinned} skills, but only {MAX_SKILLS} are listed: the last ones may be missing"
        return [*faults, *([too_many] if pinned > MAX_SKILLS else [])]

    def name_warnings(self, goal: GoalSelection, pool: SkillPool | None = None) -> list[str]:
        """Return a warning for each skill that the goal names and that is not used because of that."""
        from goalwright_skills.selection.query import triggers

        pool = pool or self.pool()
        uncallable = (skill for skill in triggers.mentioned(goal.text, pool.active) if not skill.user_invocable)
        unusable = triggers.mentioned(goal.text, self._unusable())
        withheld = [skill for skill in pool.manual if goal.nameable is not None and skill.name not in goal.nameable]
        return [
            *map(self._uncallable_warning, uncallable),
            *(f"the goal names {skill.name!r}, which is {_fault(skill)}; it is not used" for skill in unusable),
            *(
                f"a sub-goal names {selection.name}, which is manual, so it was planned without the skill; to use it, "
                "name it in the goal of the run"
                for selection in triggers.named(goal.text, withheld)
            ),
        ]

    def _uncallable_warning(self, skill: Skill) -> str:
        manual = self.preferences.is_manual(skill)
        use = "it is manual too: only your own plan uses it" if manual else "it is selected only where it fits"
        return (
            f"the goal names {skill.name}, which is not called by name ({skill.file}: `{INVOCABLE_KEY}: false`); {use}"
        )

    def check(self, names: Sequence[str], skills: Sequence[Skill]) -> None:
        """Raise InputError if a requested skill does not exist or may not be called."""
        if not names:
            return
        self.check_known(names, skills)
        for fault in self.uncallable(names, skills):
            hint = "leave the name out (the skill is selected where it fits, unless it is manual), or remove that line"
            raise InputError(fault, hint=hint)

    def check_known(self, names: Sequence[str], skills: Sequence[Skill]) -> None:
        """Raise InputError if a skill does not exist."""
        known = [skill.name for skill in skills]
        for name in names:
            if name not in known:
                reason = self.unusable.get(name)
                fault = f"the skill {name!r} is {reason}" if reason else f"there is no skill {name!r}"
                hint = "fix the skill, or use one of these names" if reason else "use one of these names"
                raise InputError(f"{fault}; known skills: {nearest_names(name, known)}", hint=hint)

    def uncallable(self, names: Sequence[str], skills: Iterable[Skill]) -> list[str]:
        """Return a fault for each of these names whose skill may not be called by name."""
        return [
            f"the skill {skill.name!r} is not called by name: {skill.file} says `{INVOCABLE_KEY}: false`"
            for skill in skills
            if not skill.user_invocable and skill.name in names
        ]

    def still_called(self, names: Sequence[str], skills: Iterable[Skill]) -> list[str]:
        """Return the names that a recorded run requested and that still exist and may be called."""
        callable_names = {skill.name for skill in skills if skill.user_invocable} if names else ()
        return [name for name in names if name in callable_names]

    def why_absent(self, name: str) -> str:
        """Explain why no active skill has this name."""
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
        """The reasons why skills are disabled or broken, by name: `disabled by …`, `broken: …`."""
        return {skill.name: _fault(skill) for skill in self._unusable()}

    def _unusable(self) -> Iterator[Skill]:
        """Yield the disabled and broken skills whose name no active skill has; of each name, the strongest."""
        names: set[str] = set()
        for row in self.registry.list_skills(all=True):
            if row.kind == "context" and row.state in ("disabled", "broken") and row.name not in names:
                names.add(row.name)
                if self.registry.get(row.name) is None:
                    yield row


def _named(goal: GoalSelection, pool: SkillPool) -> tuple[list[Selection], str]:
    """Return the skills that a goal names, and its text without the names of manual skills."""
    from goalwright_skills.selection.query import triggers  # here, since listing skills needs no selection

    nameable = [skill for skill in pool.manual if goal.nameable is None or skill.name in goal.nameable]
    named = triggers.named(goal.text, chain(pool.selectable, nameable))
    return named, triggers.without_names(goal.text, nameable) if nameable else goal.text


def _fault(skill: Skill) -> str:
    """Return why a disabled or broken skill cannot be used."""
    return f"broken: {skill.reason}" if skill.state == "broken" else skill.reason or "disabled"


def _skill_files(use: Mapping[str, Path]) -> dict[str, Path]:
    from goalwright.workspace.substitute import skill_file

    return {name: skill_file(name, path) for name, path in use.items()}


def _substituting(use: Mapping[str, Path]) -> Callable[..., Registry]:
    from goalwright.workspace.substitute import SubstitutingRegistry

    return partial(SubstitutingRegistry, files=use)
