"""Detectors of other packages, held to what a detector is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills.errors import InputError, WeftError
from skills.selection.detector import Selection, as_selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.selection.detector import SkillDetector
    from skills.skill import Skill


def checked(name: str, detector: SkillDetector) -> SkillDetector:
    """The detector, which answers for itself from now on."""
    return (RankingPluginDetector if hasattr(detector, "rank") else PluginDetector)(name, detector)


@dataclass(frozen=True, slots=True)
class PluginDetector:
    """A detector of another package: it may fail in any way, and what it gives may be anything."""

    name: str
    detector: Any

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """What it finds."""
        return self._answer("detect", goal, skills)

    def _answer(self, method: str, *given: object) -> list[Selection]:
        """What it says; where it fails, whose fault that is."""
        try:
            return [_selection(one) for one in getattr(self.detector, method)(*given)]
        except WeftError:
            raise
        except Exception as error:
            what = f"the detector {self.name!r} failed: {type(error).__name__}: {error}"
            raise InputError(what, hint="mend the package it comes from, or use --detector ranked") from error


class RankingPluginDetector(PluginDetector):
    """One that ranks as well."""

    __slots__ = ()

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The best, however poor they are."""
        return self._answer("rank", goal, skills, most)


def _selection(given: Any) -> Selection:
    match as_selection(given):
        case Selection(str(), int() | float(), str()) as one:
            return one
        case other:
            raise TypeError(f"{other} is not a name, a score and a reason")
