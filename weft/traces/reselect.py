"""Select skills for recorded goals again: a regression test for a library of skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.workspace.planned_selection import PLAN
from weft_planner.events import RunStarted, SkillsSelected, decode
from weft_skills.discovery.index import cache_folder
from weft_skills.selection import detectors
from weft_skills.selection.detector import Selection
from weft_skills.selection.ranked import RankedDetector
from weft_skills.selection.translated import TranslatedDetector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weft.workspace.workspace import Workspace
    from weft_executor.stores.row import Row
    from weft_skills.selection.detector import SkillDetector

_MIN_CHANGE = 0.0005  # scores closer than this count as equal


@dataclass(frozen=True, slots=True)
class Reselection:
    """A goal's recorded selection and today's, best first."""

    run_id: str
    goal: str
    then: tuple[Selection, ...]
    now: tuple[Selection, ...]

    @property
    def drifted(self) -> bool:
        """Whether a skill was added, dropped or moved; a changed score alone is not drift."""
        return [selection.name for selection in self.then] != [selection.name for selection in self.now]

    @property
    def scores(self) -> list[tuple[str, float, float]]:
        """The skills whose score changed: name, score then, score now."""
        before = {selection.name: selection.score for selection in self.then}
        return [
            (selection.name, before[selection.name], selection.score)
            for selection in self.now
            if selection.name in before and abs(selection.score - before[selection.name]) >= _MIN_CHANGE
        ]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as `--json` prints it."""
        then, now = [selection.name for selection in self.then], [selection.name for selection in self.now]
        return {
            "run_id": self.run_id,
            "goal": self.goal,
            "then": then,
            "now": now,
            "added": [name for name in now if name not in then],
            "dropped": [name for name in then if name not in now],
            "scores": [{"name": name, "then": before, "now": after} for name, before, after in self.scores],
        }


def reselect(runs: Iterable[list[Row]], workspace: Workspace, *, detector: str | None = None) -> Iterator[Reselection]:
    """Select skills for each recorded goal again, with the recorded detector unless another is given."""
    selector = _Selector(workspace)
    for rows in runs:
        events = [decode(row.type, row.body) for row in rows]
        started = next((event for event in events if isinstance(event, RunStarted)), None)
        selected = next((event for event in events if isinstance(event, SkillsSelected) and event.task is None), None)
        if started is not None and selected is not None and selected.detector != PLAN:  # else nothing was selected
            now = selector.select(detector or selected.detector, started, selected.keywords)
            yield Reselection(rows[0].run_id, started.goal, selected.selections, now)


class _Selector:
    """Selects with today's skills and detectors; a goal that several runs share is searched for once."""

    def __init__(self, workspace: Workspace) -> None:
        self._skills = workspace.skills.active()
        self._names = {skill.name for skill in self._skills}
        self._cache = cache_folder(workspace.paths.workspace)
        self._detectors: dict[str, SkillDetector] = {}
        self._found: dict[tuple[str, str, str], list[Selection]] = {}

    def select(self, detector: str, started: RunStarted, keywords: str = "") -> tuple[Selection, ...]:
        """What a recorded goal selects today, with the keywords that a model gave for it then."""
        asked = [Selection(name, 1.0, "asked for by name") for name in started.asked_skills if name in self._names]
        detected = self._detect(detector, started.goal, keywords)
        return (*asked, *(selection for selection in detected if selection.name not in started.asked_skills))

    def _detect(self, detector: str, goal: str, keywords: str) -> list[Selection]:
        if (detector, goal, keywords) not in self._found:
            if detector not in self._detectors:
                self._detectors[detector] = detectors.detector(detector, cache=self._cache)
            finder = self._detectors[detector]
            if keywords and isinstance(finder, RankedDetector):
                finder = TranslatedDetector(finder, keywords)
            self._found[detector, goal, keywords] = finder.detect(goal, self._skills)
        return self._found[detector, goal, keywords]
