"""Strict replay: the same walk as a run's, with the recorded replies, date and tool results, and no call at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from executor.history.ledger import Ledger
from executor.history.replay import Drift, ReplayMemo, ReplayModel, Tape, reused
from executor.history.run_history import RunHistory
from executor.tasks.artifacts import Artifacts
from planner.errors import RecordEnded
from planner.events import PlanMade, RunFinished, RunStarted
from skills.errors import InputError, WeftError
from weft.models.open import profile_of
from weft.runs import records
from weft.runs.pipeline import Pipeline
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from executor.history.result import Result
    from executor.stores.row import Row
    from planner.events import Event, Record
    from planner.model import Role
    from planner.prompting.profile import Profile
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Replay:
    """How a replay went: the run's result as it is today, and all that differs from the record."""

    result: Result
    drift: tuple[Drift, ...]

    def to_dict(self) -> dict[str, Any]:
        """The replay as `--json` has it."""
        return self.result.to_dict() | {"drift": [one.to_dict() for one in self.drift]}


@dataclass(frozen=True, slots=True)
class _ReplayModels:
    """Which recorded model plays which role; a run that was taken up again may have had others from then on."""

    settings_in_force: Sequence[Settings]
    tape: Tape
    memo: ReplayMemo

    def for_role(self, role: Role) -> ReplayModel:
        return self.named(self._name(role))

    def named(self, name: str) -> ReplayModel:
        return ReplayModel(name, self.tape, self.memo)

    def profile(self, role: Role, task: str | None = None) -> Profile:
        return profile_of(self._name(role, task))

    def _name(self, role: Role, task: str | None = None) -> str:
        return self.settings_in_force[self.tape.history.asked_under.get((role, task), 0)].model_for(role) or "recorded"


async def strict(
    rows: Iterable[Row], paths: Paths, settings: Settings, *, journal: str | None = None, record: Record | None = None
) -> Replay:
    """Run a recorded run again, as it would be today, and say what differs."""
    rows = list(rows)
    if not rows:
        raise InputError("the record is empty", hint="name a run that `weft trace list` shows, or an exported trace")
    capture = records.capture(paths, rows[0].run_id)
    history = RunHistory.of(rows, capture)
    goal = records.goal_of(history)
    begun: RunStarted = history.started  # type: ignore[assignment]  # goal_of has seen that it is there
    settings_in_force = [records.settings_of(one, settings, {}) for one in history.settings_in_force]
    tape, ledger = Tape(history, capture), Ledger()

    def note(event: Event) -> None:
        ledger.note(event)
        tape.note(event)
        if record is not None:
            record(event)
        if isinstance(event, PlanMade):
            for one in reused(history):
                note(one)

    memo = ReplayMemo.of(tape, note)
    artifacts = Artifacts.of(paths.workspace, begun.run_id, written=False)
    models = _ReplayModels(settings_in_force, tape, memo)
    use = records.substitutes(begun)
    for name in begun.use.keys() - use.keys():
        tape.differs("skills", f"skill {name!r}: the file that stood in its place, {begun.use[name]}, is gone")
    # A recorded plan is followed as far as it leads, also where it names a skill that is gone.
    gone = [task.name for task in history.planned.plan.tasks if task.action_type == "skill"] if history.planned else []
    workspace = Workspace(paths, settings_in_force[0], use, gone=[name for name in gone if name], portable=True)
    pipeline = Pipeline(goal, workspace, models, memo, artifacts, begun.date)
    note(begun)
    note(await _walked(pipeline, history))
    return Replay(ledger.result(journal), tuple(tape.drift))


async def _walked(pipeline: Pipeline, history: RunHistory) -> RunFinished:
    try:
        return await pipeline.run()
    except RecordEnded:
        return history.ledger.finished or RunFinished("interrupted", error="the record ends before the run's end")
    except WeftError as error:
        message = error.message if error.code == "NO_PLAN" else str(error)
        return RunFinished("failed", error=message)
