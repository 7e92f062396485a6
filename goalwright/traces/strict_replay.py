"""Strict replay: repeat a recorded run with its replies, date and tool results, and report every difference."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.models.open import profile_of
from goalwright.runs.pipeline import Pipeline
from goalwright.runs.run_context import RecordedRun, RunContext
from goalwright.runs.stored import records
from goalwright.workspace.workspace import Workspace
from goalwright_executor.history.difference import difference
from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.replay import ReplayMemo, ReplayModel, reused
from goalwright_executor.history.run_history import RunHistory, reused_by
from goalwright_executor.history.tape import Drift, Tape
from goalwright_executor.results.artifacts import Artifacts
from goalwright_planner.errors import RecordEnded
from goalwright_planner.events import PlanChanged, PlanMade, RunFinished, RunStarted, Warned
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.functions import functions
from goalwright_skills.selection import detectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import Row
    from goalwright_planner.events import Event, Record
    from goalwright_planner.model import Role
    from goalwright_planner.prompting.profile import Profile
    from goalwright_skills.functions.functions import FunctionTool
    from goalwright_skills.tools.tool import RecordedTool


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of a replay: the result, and its differences from the record."""

    result: Result
    drift: tuple[Drift, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the replay as `--json` prints it."""
        return self.result.to_dict() | {"drift": [difference.to_dict() for difference in self.drift]}


@dataclass(frozen=True, slots=True)
class _ReplayModels:
    """The recorded model of each role; a resumed run can have used other models."""

    settings_in_force: Sequence[Settings]
    tape: Tape
    memo: ReplayMemo

    def for_role(self, role: Role, called: str | None = None) -> ReplayModel:
        recorded = (call.model for call in self.tape.history.calls.started if call.role == role and called is None)
        return self.named(next(recorded, None) or self._name(role, called=called))

    def named(self, name: str) -> ReplayModel:
        return ReplayModel(name, self.tape, self.memo)

    async def ready(self, role: Role) -> None:
        """Do nothing: recorded replies need no model."""

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        return profile_of(self._name(role, task, called))

    def _name(self, role: Role, task: str | None = None, called: str | None = None) -> str:
        settings = self.settings_in_force[self.tape.history.calls.settings_index.get((role, task), 0)]
        return (settings.model_for(role) if called is None else settings.model_called(called)) or "recorded"


async def strict(
    rows: Iterable[Row],
    paths: Paths,
    settings: Settings,
    *,
    journal: str | None = None,
    record: Record | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Replay:
    """Repeat a recorded run with the current code and skills, and report the differences.

    `changes` override recorded settings. With them, folders of skills are not compared, as every version has its own.
    """
    rows = list(rows)
    if not rows:
        raise InputError("the record is empty", hint="name a run from `goalwright trace list`, or an exported trace")
    capture = records.capture(paths, rows[0].run_id)
    compare_folders, changes = changes is None, changes or {}
    paths = _with_own_skills(paths, capture.local(rows[0].body)).with_skills(changes.get("skills_dir"))
    capture = records.capture(paths, rows[0].run_id)
    history = RunHistory.of(rows, capture)
    goal = records.goal_of(history)
    started: RunStarted = history.started  # type: ignore[assignment]  # goal_of checked it
    settings_in_force = [records.settings_of(recorded, settings, {}) for recorded in history.inputs.settings]
    planning = settings_in_force[history.calls.settings_index.get(("decomposer", None), 0)]
    # `paths` already has the recorded skills folder, if it still exists.
    first = replace(settings_in_force[0], stream_plan=planning.stream_plan, **{**changes, "skills_dir": None})
    # Many causes of warnings do not occur in a replay, so the recorded warnings are used.
    tape, ledger = Tape(history, capture, compare_folders), Ledger(warnings=history.ledger.warnings.copy())

    def note(event: Event) -> None:
        if not isinstance(event, Warned):
            ledger.note(event)
        if record is not None:
            record(event)
        if isinstance(event, PlanMade | PlanChanged):
            for output in reused_by(event, reused(history)):
                note(output)

    memo = ReplayMemo.of(tape, note)
    artifacts = Artifacts.of(paths.workspace, started.run_id, written=False)
    models = _ReplayModels(settings_in_force, tape, memo)
    first = _with_detector(first, tape)
    use = _substitutes(started, Workspace(paths, first, replayed=True), tape) if started.use else {}
    # The recorded plan runs even if one of its skills no longer exists.
    planned = history.plan.tasks if history.plan is not None else ()
    plan_skills = [task.name for task in planned if task.action_type == "skill" and task.name]
    workspace = Workspace(paths, first, use, gone=plan_skills, replayed=True, tools=history.functions)
    current, _ = functions.discover(paths.workspace, os.environ, first.skill_preferences)
    _compare_functions(history.functions, current, tape)
    recorded = RecordedRun.replayed(
        history, lambda read, what: tape.differs(f"task {read.task}", what), lambda what: tape.differs("files", what)
    )
    context = RunContext(goal, workspace, first, models, memo, artifacts, started.date, recorded=recorded)
    note(started)
    for attempt in history.calls.broken:  # a replay has no broken calls, but their usage counts
        note(attempt)
    note(tape.recorded(await _run(Pipeline(context), history)))
    return Replay(ledger.result(journal), tuple(tape.drift))


def _with_own_skills(paths: Paths, first: Mapping[str, Any]) -> Paths:
    """Add the recorded `skills_dir` to the paths, if it still exists."""
    folder = first.get("settings", {}).get("skills_dir")
    return paths.with_skills(folder) if isinstance(folder, str) and Path(folder).is_dir() else paths


def _with_detector(settings: Settings, tape: Tape) -> Settings:
    """Use the default detector if the recorded one is no longer installed."""
    if settings.detector in (detectors.DEFAULT, detectors.ASKING):
        return settings
    try:
        detectors.detector(settings.detector)
    except InputError as error:
        tape.differs("selection", f"skills are selected by {detectors.DEFAULT!r} now: {error.message}")
        return replace(settings, detector=detectors.DEFAULT)
    return settings


def _substitutes(started: RunStarted, workspace: Workspace, tape: Tape) -> dict[str, Path]:
    """Return the files that replaced skills, if both still exist."""
    use = records.substitutes(started)
    for name, path in started.use.items():
        if name not in use:
            tape.differs("skills", f"skill {name!r}: the file that replaced it, {path}, no longer exists")
        elif workspace.skills.registry.get(name) is None:
            tape.differs("skills", f"skill {name!r}, which {path} replaced, no longer exists")
            del use[name]
    return use


def _compare_functions(recorded: Sequence[RecordedTool], installed: Sequence[FunctionTool], tape: Tape) -> None:
    """Report functions whose description has changed; the replay offers the recorded ones, even if removed."""
    current = {tool.name: tool for tool in installed}
    for tool in recorded:
        function = current.get(tool.name)
        if function is None or (function.description, function.parameters) == (tool.description, tool.parameters):
            continue
        what = difference(tool.description, function.description) or "its parameters differ"
        tape.differs("tools", f"prompt of tasks: tool {tool.name!r} is described differently: {what}")


async def _run(pipeline: Pipeline, history: RunHistory) -> RunFinished:
    try:
        return await pipeline.run()
    except RecordEnded:
        return history.ledger.finished or RunFinished("interrupted", error="the record is incomplete")
    except GoalwrightError as error:
        message = error.message if error.code == "NO_PLAN" else str(error)
        return RunFinished("failed", error=message)
