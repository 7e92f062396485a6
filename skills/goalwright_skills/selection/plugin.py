"""Detectors of other packages, with failures attributed to them and answers checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.selection.detector import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill


def checked(name: str, detector: Any) -> SkillDetector:
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
            raise InputError(what, hint="fix the package it comes from, or use --detector ranked") from error


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
