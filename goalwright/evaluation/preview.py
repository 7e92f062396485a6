"""Preview a change of a skill without model calls: recorded selections and prompts that would change."""

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

    from goalwright.evaluation.trials import Variant
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_executor.stores.row import Row

_MOST_RUNS = 2_000
_MOST_REPLAYS = 200
_TASK = "task "


@dataclass(frozen=True, slots=True)
class ChangedSelection:
    """A recorded goal for which the second variant selects other skills than the first."""

    run_id: str
    goal: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the change as `--json` prints it."""
        names = {"before": list(self.before), "after": list(self.after)}
        return {"run_id": self.run_id, "goal": self.goal, **names}


@dataclass(frozen=True, slots=True)
class VariantPreview:
    """The recorded goals that were compared, the changed selections, and the number of changed tasks and their runs."""

    goals: int
    changed: tuple[ChangedSelection, ...]
    tasks: int
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as `--json` prints it."""
        changed = [change.to_dict() for change in self.changed]
        return {"goals": self.goals, "selections": changed, "prompts": {"tasks": self.tasks, "runs": self.runs}}


def workspace_of(variant: Variant, paths: Paths, settings: Settings) -> Workspace:
    """Return the workspace with the settings of a variant."""
    settings = replace(settings, **variant.settings)
    return Workspace(paths.with_skills(settings.skills_dir), settings)


def changed_selections(before: Workspace, after: Workspace) -> tuple[int, tuple[ChangedSelection, ...]]:
    """Return the number of compared goals, and those with another selection."""
    first = {reselection.run_id: reselection for reselection in _selections(before)}
    changed: dict[str, ChangedSelection] = {}
    for second in _selections(after):
        run_id, goal = second.run_id, second.goal
        old_names = tuple(skill.name for skill in first[run_id].now) if run_id in first else ()
        new_names = tuple(skill.name for skill in second.now)
        if set(old_names) != set(new_names):
            changed.setdefault(goal, ChangedSelection(run_id, goal, old_names, new_names))
    return len({reselection.goal for reselection in first.values()}), tuple(changed.values())


def _selections(workspace: Workspace) -> Iterator[Any]:
    newest = list(recorded_selections((), workspace.paths, workspace.settings))[-_MOST_RUNS:]
    yield from reselect(newest, workspace, left_out=[])


async def preview(first: Variant, second: Variant, name: str, paths: Paths, settings: Settings) -> VariantPreview:
    """Compare two variants of a skill by replaying recorded runs."""
    before, after = workspace_of(first, paths, settings), workspace_of(second, paths, settings)
    goals, changed = changed_selections(before, after)
    tasks = runs = 0
    for rows in _runs_with(name, paths, settings):
        changed_tasks = await _changed_prompts(rows, first, second, paths, settings)
        tasks, runs = tasks + len(changed_tasks), runs + bool(changed_tasks)
    return VariantPreview(goals, changed, tasks, runs)


async def _changed_prompts(
    rows: list[Row], first: Variant, second: Variant, paths: Paths, settings: Settings
) -> set[str]:
    """Return the tasks of a run whose prompts differ between the variants."""
    try:
        first_drift, second_drift = [
            {drift for drift in replay.drift if drift.where.startswith(_TASK)}
            for variant in (first, second)
            if (replay := await strict(rows, paths, settings, changes=variant.settings))
        ]
    except GoalwrightError:  # the record cannot be replayed
        return set()
    return {drift.where.removeprefix(_TASK) for drift in first_drift ^ second_drift}


def _runs_with(name: str, paths: Paths, settings: Settings) -> Iterator[list[Row]]:
    """Yield the newest recorded runs with a task that loaded the skill."""
    if not settings.journal and not (paths.agents / "journal.sqlite").exists():
        return
    store = records.recorded_runs(paths, settings)
    loaded = (row.run_id for row in store.rows_of_all(("skill_loaded",)) if row.body.get("name") == name)
    for run in list(dict.fromkeys(loaded))[-_MOST_REPLAYS:]:
        yield list(store.rows(run))
