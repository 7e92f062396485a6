"""Select skills again for recorded goals, as a regression test for a skill library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.runs.stored import records
from goalwright.workspace.planned_selection import PLAN
from goalwright_planner.events import RunStarted, SkillsSelected
from goalwright_skills.discovery.index import cache_folder
from goalwright_skills.selection import detectors
from goalwright_skills.selection.ranked import RankedDetector, TranslatedDetector
from goalwright_skills.skill import is_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.stores.row import Row
    from goalwright_skills.selection.detector import Selection, SkillDetector

_MIN_CHANGE = 0.0005  # scores closer than this count as equal


@dataclass(frozen=True, slots=True)
class Reselection:
    """The recorded and the current selection for a goal, best first."""

    run_id: str
    goal: str
    then: tuple[Selection, ...]
    now: tuple[Selection, ...]

    @property
    def drifted(self) -> bool:
        """Whether a skill was added, dropped or moved; a changed score is not drift."""
        return [selection.name for selection in self.then] != [selection.name for selection in self.now]

    @property
    def scores(self) -> list[tuple[str, float, float]]:
        """The skills with a changed score: name, recorded score, current score."""
        before = {selection.name: selection.score for selection in self.then}
        return [
            (selection.name, before[selection.name], selection.score)
            for selection in self.now
            if selection.name in before and abs(selection.score - before[selection.name]) >= _MIN_CHANGE
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as `--json` prints it."""
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


def reselect(
    runs: Iterable[list[Row]],
    workspace: Workspace,
    *,
    detector: str | None = None,
    left_out: list[str] | None = None,
) -> Iterator[Reselection]:
    """Select skills again for each recorded goal, with the recorded detector unless `detector` overrides it.

    Runs with a selection by a model are appended to `left_out`, as no model is called; without the list, such a run
    raises. Prompts of MCP servers are ignored: they are not skills of the workspace.
    """
    selector = _Selector(workspace)
    for rows in runs:
        events = [records.event_of(row, workspace.paths) for row in rows]
        started = next((event for event in events if isinstance(event, RunStarted)), None)
        selected = next((event for event in events if isinstance(event, SkillsSelected) and event.task is None), None)
        if started is None or selected is None or selected.detector == PLAN:  # nothing was selected
            continue
        finder = detector or selected.detector
        if finder == detectors.ASKING and detector is None and left_out is not None:
            left_out.append(rows[0].run_id)
            continue
        then = tuple(selection for selection in selected.selections if not is_prompt(selection.name))
        yield Reselection(rows[0].run_id, started.goal, then, selector.select(finder, started, selected.keywords))


class _Selector:
    """Selects with the current skills, settings and detectors; results are cached by goal."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace.skills
        self._pool = workspace.skills.pool()
        self._cache = cache_folder(workspace.paths.workspace)
        self._detectors: dict[str, SkillDetector] = {}
        self._selections: dict[tuple[str, str, str, tuple[str, ...]], tuple[Selection, ...]] = {}

    def select(self, detector: str, started: RunStarted, keywords: str = "") -> tuple[Selection, ...]:
        """Select skills for a recorded goal, with the keywords that a model recorded for it."""
        requested = tuple(self._workspace.still_called(started.asked_skills, self._pool.active))
        key = detector, started.goal, keywords, requested
        if key not in self._selections:
            finder = self._detector(detector, keywords)
            self._selections[key] = tuple(
                self._workspace.select(self._workspace.request(started.goal, requested), finder, self._pool)
            )
        return self._selections[key]

    def _detector(self, name: str, keywords: str) -> SkillDetector:
        if name not in self._detectors:
            self._detectors[name] = detectors.detector(name, cache=self._cache)
        finder = self._detectors[name]
        return TranslatedDetector(finder, keywords) if keywords and isinstance(finder, RankedDetector) else finder
