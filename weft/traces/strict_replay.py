"""Strict replay: run a recorded run again with its replies, date and tool results, and report every difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft.models.open import profile_of
from weft.runs.pipeline import Pipeline
from weft.runs.run_context import RecordedRun, RunContext
from weft.runs.stored import records
from weft.workspace.workspace import Workspace
from weft_executor.history.ledger import Ledger
from weft_executor.history.replay import ReplayMemo, ReplayModel, reused
from weft_executor.history.run_history import RunHistory, reused_by
from weft_executor.history.tape import Drift, Tape
from weft_executor.results.artifacts import Artifacts
from weft_planner.errors import RecordEnded
from weft_planner.events import PlanChanged, PlanMade, RunFinished, RunStarted
from weft_skills.errors import InputError, WeftError
from weft_skills.tools.recorded import RecordedTool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weft.settings.paths import Paths
    from weft.settings.settings import Settings
    from weft_executor.history.result import Result
    from weft_executor.stores.row import Row
    from weft_planner.events import Event, Record
    from weft_planner.model import Role
    from weft_planner.prompting.profile import Profile


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of a replay: the result as it is today, and everything that differs from the record."""

    result: Result
    drift: tuple[Drift, ...]

    def to_dict(self) -> dict[str, Any]:
        """The replay as `--json` prints it."""
        return self.result.to_dict() | {"drift": [difference.to_dict() for difference in self.drift]}


@dataclass(frozen=True, slots=True)
class _ReplayModels:
    """Which recorded model has which role; a resumed run may have had other models from then on."""

    settings_in_force: Sequence[Settings]
    tape: Tape
    memo: ReplayMemo

    def for_role(self, role: Role, called: str | None = None) -> ReplayModel:
        return self.named(self._name(role, called=called))

    def named(self, name: str) -> ReplayModel:
        return ReplayModel(name, self.tape, self.memo)

    async def ready(self, role: Role) -> None:
        """Recorded replies need nothing loaded."""

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        return profile_of(self._name(role, task, called))

    def _name(self, role: Role, task: str | None = None, called: str | None = None) -> str:
        settings = self.settings_in_force[self.tape.history.asked_under.get((role, task), 0)]
        return (settings.model_for(role) if called is None else settings.model_called(called)) or "recorded"


async def strict(
    rows: Iterable[Row], paths: Paths, settings: Settings, *, journal: str | None = None, record: Record | None = None
) -> Replay:
    """Run a recorded run as it would run today, and report what differs."""
    rows = list(rows)
    if not rows:
        raise InputError("the record is empty", hint="name a run from `weft trace list`, or an exported trace")
    capture = records.capture(paths, rows[0].run_id)
    history = RunHistory.of(rows, capture)
    goal = records.goal_of(history)
    started: RunStarted = history.started  # type: ignore[assignment]  # goal_of checked it
    settings_in_force = [records.settings_of(recorded, settings, {}) for recorded in history.settings_in_force]
    planning = settings_in_force[history.asked_under.get(("decomposer", None), 0)]
    first = replace(settings_in_force[0], stream_plan=planning.stream_plan)
    tape, ledger = Tape(history, capture), Ledger()

    def note(event: Event) -> None:
        ledger.note(event)
        if record is not None:
            record(event)
        if isinstance(event, PlanMade | PlanChanged):
            for output in reused_by(event, reused(history)):
                note(output)

    memo = ReplayMemo.of(tape, note)
    artifacts = Artifacts.of(paths.workspace, started.run_id, written=False)
    models = _ReplayModels(settings_in_force, tape, memo)
    use = records.substitutes(started)
    for name in started.use.keys() - use.keys():
        tape.differs("skills", f"skill {name!r}: the file used in its place, {started.use[name]}, no longer exists")
    # The recorded plan is run even if it names a skill that no longer exists.
    planned = history.plan.tasks if history.plan is not None else ()
    gone = [task.name for task in planned if task.action_type == "skill" and task.name]
    functions = history.catalogue.own_tools if history.catalogue is not None else ()
    own = [RecordedTool(tool.name, tool.description, tool.parameters) for tool in functions]
    workspace = Workspace(paths, first, use, gone=gone, portable=True, tools=own)
    recorded = RecordedRun.replayed(history, lambda read, what: tape.differs(f"task {read.task}", what))
    context = RunContext(goal, workspace, first, models, memo, artifacts, started.date, recorded=recorded)
    note(started)
    note(tape.recorded(await _run(Pipeline(context), history)))
    return Replay(ledger.result(journal), tuple(tape.drift))


async def _run(pipeline: Pipeline, history: RunHistory) -> RunFinished:
    try:
        return await pipeline.run()
    except RecordEnded:
        return history.ledger.finished or RunFinished("interrupted", error="the record is incomplete")
    except WeftError as error:
        message = error.message if error.code == "NO_PLAN" else str(error)
        return RunFinished("failed", error=message)
