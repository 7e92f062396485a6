"""Detectors by name: goalwright's own, and those that installed packages offer in the entry-point group `goalwright.detectors`."""

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
# The detector that asks a model is made where there is one; here only its name is known.
ASKING = "llm"
NO_MATCH = "no match with the goal"


def detector(name: str = DEFAULT, *, cache: Path | None = None) -> SkillDetector:
    """The detector of that name; `cache` is a folder for what it computes."""
    make = _OWN.get(name)
    return make(cache) if make is not None else _installed(name)


def top(finder: SkillDetector, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
    """The best `limit` skills without a threshold: those the detector ranks or selects, then any others."""
    rank = getattr(finder, "rank", None)
    given = rank(goal, skills, limit) if rank is not None else finder.detect(goal, skills)
    found = list(given)[:limit]
    names = {selection.name for selection in found}
    rest = (skill.name for skill in skills if skill.name not in names)
    return [*found, *(Selection(name, 0.0, NO_MATCH) for name in islice(rest, limit - len(found)))]


def _installed(name: str) -> SkillDetector:
    """The detector that an installed package offers under this name, with its answers checked."""
    from goalwright_skills.functions.entry_points import entry_points

    offered = {point.name: point for point in entry_points(GROUP)}
    if name not in offered:
        if name == ASKING:
            hint = "use it in a run or with `goalwright skills select`, or choose another detector"
            raise InputError(f"the detector {name!r} asks a model, and there is none here", hint=hint)
        known = ", ".join(sorted({*_OWN, *offered, ASKING}))
        raise InputError(f"there is no detector {name!r}; detectors are: {known}", hint="choose one of these detectors")
    try:
        made = offered[name].load()
        return _checked(name, made() if isinstance(made, type) or not hasattr(made, "detect") else made)
    except Exception as error:  # another package's code may fail in any way; say whose it is
        what = f"detector {name!r} from {offered[name].value} cannot be loaded: {error}"
        raise InputError(what, hint="fix or uninstall that package, or choose the detector 'ranked'") from error


def _ranked(cache: Path | None) -> SkillDetector:
    from goalwright_skills.selection.ranked import RankedDetector

    return RankedDetector(cache)


def _keyword(_: Path | None) -> SkillDetector:
    from goalwright_skills.selection.keyword import KeywordDetector

    return KeywordDetector()


_OWN: Mapping[str, Callable[[Path | None], SkillDetector]] = {
    "ranked": _ranked,
    "keyword": _keyword,
}


def _checked(name: str, detector: Any) -> SkillDetector:
    """Another package's detector, wrapped so that its failures and answers are checked."""
    return (RankingPluginDetector if hasattr(detector, "rank") else PluginDetector)(name, detector)


@dataclass(frozen=True, slots=True)
class PluginDetector:
    """A detector of another package: it may fail in any way and return anything."""

    name: str
    detector: Any

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that fit, best first."""
        return self._answer("detect", goal, skills)

    def _answer(self, method: str, *given: object) -> list[Selection]:
        """What the detector's method returns; a failure names the detector."""
        try:
            return [_selection(answer) for answer in getattr(self.detector, method)(*given)]
        except GoalwrightError:
            raise
        except Exception as error:
            what = f"the detector {self.name!r} failed: {type(error).__name__}: {error}"
            raise InputError(what, hint="fix the package it comes from, or choose the detector 'ranked'") from error


class RankingPluginDetector(PluginDetector):
    """A detector of another package that also ranks."""

    __slots__ = ()

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """The best skills, however poor they are."""
        return self._answer("rank", goal, skills, limit)


def _selection(given: Any) -> Selection:
    """A selection as given, or made from a plain (name, score, reason)."""
    match given if isinstance(given, Selection) else Selection(*given):
        case Selection(str(), int() | float(), str(), bool()) as selection:
            return selection
        case other:
            raise TypeError(f"{other} is not a name, a score and a reason")
