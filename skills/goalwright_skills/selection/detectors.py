"""Detectors by name: built in, or from installed packages (entry-point group `goalwright.detectors`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.selection.detector import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill


GROUP = "goalwright.detectors"
DEFAULT = "ranked"
# The detector that asks a model; it is made where there is a model.
ASKING = "llm"
NO_MATCH = "no match with the goal"


def detector(name: str = DEFAULT, *, cache: Path | None = None) -> SkillDetector:
    """Return the detector with this name; `cache` is a folder for its index."""
    make = _OWN.get(name)
    return make(cache) if make is not None else _installed(name)


def top(finder: SkillDetector, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
    """Return the best `limit` skills without a threshold, filled up with skills that the detector does not rank."""
    rank = getattr(finder, "rank", None)
    ranked = rank(goal, skills, limit) if rank is not None else finder.detect(goal, skills)
    selections = list(ranked)[:limit]
    names = {selection.name for selection in selections}
    others = (skill.name for skill in skills if skill.name not in names)
    return [*selections, *(Selection(name, 0.0, NO_MATCH) for name in islice(others, limit - len(selections)))]


@dataclass(frozen=True, slots=True)
class PluginDetector:
    """A detector of another package: its failures name the package, and its answers are checked."""

    name: str
    detector: Any

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that fit, best first."""
        return self._answer("detect", goal, skills)

    def _answer(self, method: str, *arguments: object) -> list[Selection]:
        try:
            return [_selection(answer) for answer in getattr(self.detector, method)(*arguments)]
        except GoalwrightError:
            raise
        except Exception as error:
            raise InputError(
                f"the detector {self.name!r} failed: {type(error).__name__}: {error}",
                hint="fix the package it comes from, or choose the detector 'ranked'",
            ) from error


class RankingPluginDetector(PluginDetector):
    """A detector of another package that also ranks."""

    __slots__ = ()

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the best skills, without a threshold."""
        return self._answer("rank", goal, skills, limit)


def _selection(answer: Any) -> Selection:
    """Convert an answer, which may be a plain (name, score, reason), to a selection."""
    match answer if isinstance(answer, Selection) else Selection(*answer):
        case Selection(str(), int() | float(), str(), bool()) as selection:
            return selection
        case other:
            raise TypeError(f"{other} is not a name, a score and a reason")


def _installed(name: str) -> SkillDetector:
    """Return the detector that an installed package offers under this name."""
    from goalwright_skills.functions.entry_points import entry_points

    offered = {point.name: point for point in entry_points(GROUP)}
    if name not in offered:
        if name == ASKING:
            hint = "use it in a run or with `goalwright skills select`, or choose another detector"
            raise InputError(f"the detector {name!r} asks a model, and there is none here", hint=hint)
        known = ", ".join(sorted({*_OWN, *offered, ASKING}))
        raise InputError(f"there is no detector {name!r}; detectors are: {known}", hint="choose one of these detectors")
    try:
        loaded = offered[name].load()
        made = loaded() if isinstance(loaded, type) or not hasattr(loaded, "detect") else loaded
    except Exception as error:  # another package's code may fail in any way
        raise InputError(
            f"detector {name!r} from {offered[name].value} cannot be loaded: {error}",
            hint="fix or uninstall that package, or choose the detector 'ranked'",
        ) from error
    return (RankingPluginDetector if hasattr(made, "rank") else PluginDetector)(name, made)


def _ranked(cache: Path | None) -> SkillDetector:
    from goalwright_skills.selection.ranked import RankedDetector

    return RankedDetector(cache)


def _keyword(_: Path | None) -> SkillDetector:
    from goalwright_skills.selection.keyword import KeywordDetector

    return KeywordDetector()


_OWN: Mapping[str, Callable[[Path | None], SkillDetector]] = {"ranked": _ranked, "keyword": _keyword}
