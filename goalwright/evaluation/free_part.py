"""What a change of a skill touches, known without a call: recorded goals that select differently, and tasks whose
prompts change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goalwright.runs.stored import records
from goalwright.traces.read import recorded_selections
from goalwright.traces.reselect import reselect
from goalwright.traces.strict_replay import strict
from goalwright.workspace.workspace import Workspace
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright.evaluation.variant import Variant
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_executor.stores.row import Row

_MOST_RUNS = 2_000
_MOST_REPLAYS = 200
_TASK = "task "


@dataclass(frozen=True, slots=True)
class ChangedSelection:
    """A recorded goal that selects other skills with the second variant than with the first."""

    run_id: str
    goal: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The change as `--json` prints it."""
        names = {"before": list(self.before), "after": list(self.after)}
        return {"run_id": self.run_id, "goal": self.goal, **names}


@dataclass(frozen=True, slots=True)
class FreePart:
    """What differs between two variants in what the journal has: selections, and tasks whose prompts change."""

    goals: int
    changed: tuple[ChangedSelection, ...]
    tasks: int
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints of it."""
        changed = [change.to_dict() for change in self.changed]
        return {"goals": self.goals, "selections": changed, "prompts": {"tasks": self.tasks, "runs": self.runs}}


def workspace_of(variant: Variant, paths: Paths, settings: Settings) -> Workspace:
    """The workspace as a variant has it."""
    own = replace(settings, **variant.settings)
    return Workspace(paths.with_skills(own.skills_dir), own)


def changed_selections(before: Workspace, after: Workspace) -> tuple[int, tuple[ChangedSelection, ...]]:
    """How many goals were compared, and those that select differently."""
    first = {found.run_id: found for found in _selections(before)}
    changed: dict[str, ChangedSelection] = {}
    for found in _selections(after):
        then = tuple(one.name for one in first[found.run_id].now) if found.run_id in first else ()
        now = tuple(one.name for one in found.now)
        if set(then) != set(now):
            changed.setdefault(found.goal, ChangedSelection(found.run_id, found.goal, then, now))
    return len({found.goal for found in first.values()}), tuple(changed.values())


def _selections(workspace: Workspace) -> Iterator[Any]:
    newest = list(recorded_selections((), workspace.paths, workspace.settings))[-_MOST_RUNS:]
    yield from reselect(newest, workspace, left_out=[])


async def free_part(first: Variant, second: Variant, name: str, paths: Paths, settings: Settings) -> FreePart:
    """What replays show of two variants of a skill, without a call."""
    before, after = workspace_of(first, paths, settings), workspace_of(second, paths, settings)
    goals, changed = changed_selections(before, after)
    tasks = runs = 0
    for rows in _runs_with(name, paths, settings):
        found = await _changed_prompts(rows, first, second, paths, settings)
        tasks, runs = tasks + len(found), runs + bool(found)
    return FreePart(goals, changed, tasks, runs)


async def _changed_prompts(
    rows: list[Row], first: Variant, second: Variant, paths: Paths, settings: Settings
) -> set[str]:
    """The tasks of a run that are told something else with the second variant than with the first."""
    try:
        one, other = [
            {drift for drift in replay.drift if drift.where.startswith(_TASK)}
            for variant in (first, second)
            if (replay := await strict(rows, paths, settings, changes=variant.settings))
        ]
    except GoalwrightError:  # a record that cannot be replayed shows nothing
        return set()
    return {drift.where.removeprefix(_TASK) for drift in one ^ other}


def _runs_with(name: str, paths: Paths, settings: Settings) -> Iterator[list[Row]]:
    """The newest runs on record with a task whose prompt held the skill."""
    if not settings.journal and not (paths.agents / "journal.sqlite").exists():
        return
    found = records.recorded_runs(paths, settings)
    loaded = (row.run_id for row in found.rows_of_all(("skill_loaded",)) if row.body.get("name") == name)
    for run in list(dict.fromkeys(loaded))[-_MOST_REPLAYS:]:
        yield list(found.rows(run))
