"""What a change of a skill touches, known without a call: recorded goals that select differently, and tasks whose
prompts change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft.runs.stored import records
from weft.traces.read import recorded_selections
from weft.traces.reselect import reselect
from weft.workspace.workspace import Workspace
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft.evaluation.variant import Variant
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings

_MOST_RUNS = 2_000


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
    """What differs between two variants in what the journal has: selections, and tasks that used the skill."""

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
    yield from reselect(newest, workspace)


def free_part(first: Variant, second: Variant, name: str, paths: Paths, settings: Settings) -> FreePart:
    """What is known about two variants of a skill without a call."""
    before, after = workspace_of(first, paths, settings), workspace_of(second, paths, settings)
    goals, changed = changed_selections(before, after)
    used = _tasks_with(name, paths, settings) if body_of(before, name) != body_of(after, name) else []
    return FreePart(goals, changed, len(used), len({run for run, _ in used}))


def body_of(workspace: Workspace, name: str) -> str | None:
    """The skill's text without its place, as tasks get it; None if it is not there."""
    workspace.skills.active()
    try:
        return workspace.skills.registry.load_content(name).partition("\n")[2]
    except WeftError:
        return None


def _tasks_with(name: str, paths: Paths, settings: Settings) -> list[tuple[str, str]]:
    """The tasks on record whose prompts held the skill."""
    if not settings.journal and not (paths.agents / "journal.sqlite").exists():
        return []
    rows = records.recorded_runs(paths, settings).rows_of_all(("skill_loaded",))
    return [(row.run_id, str(row.body.get("task"))) for row in rows if row.body.get("name") == name]
