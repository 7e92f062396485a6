"""Strict replay: run a recorded run again with its replies, date and tool results, and report every difference."""

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
        asked = (call.model for call in self.tape.history.calls.started if call.role == role and called is None)
        return self.named(next(asked, None) or self._name(role, called=called))

    def named(self, name: str) -> ReplayModel:
        return ReplayModel(name, self.tape, self.memo)

    async def ready(self, role: Role) -> None:
        """Recorded replies need nothing loaded."""

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
    """Run a recorded run as it would run today, and report what differs.

    `changes` are settings that count instead of the recorded ones. With them, the folder that a skill lies in is not
    compared: every version has one of its own.
    """
    rows = list(rows)
    if not rows:
        raise InputError("the record is empty", hint="name a run from `goalwright trace list`, or an exported trace")
    capture = records.capture(paths, rows[0].run_id)
    compares_folders, changes = changes is None, changes or {}
    paths = _with_own_skills(paths, capture.local(rows[0].body)).with_skills(changes.get("skills_dir"))
    capture = records.capture(paths, rows[0].run_id)
    history = RunHistory.of(rows, capture)
    goal = records.goal_of(history)
    started: RunStarted = history.started  # type: ignore[assignment]  # goal_of checked it
    settings_in_force = [records.settings_of(recorded, settings, {}) for recorded in history.inputs.settings]
    planning = settings_in_force[history.calls.settings_index.get(("decomposer", None), 0)]
    # Its own folder of skills may be gone; if it is there, the paths have it.
    first = replace(settings_in_force[0], stream_plan=planning.stream_plan, **{**changes, "skills_dir": None})
    # Much that a run was warned of does not happen again in a replay: what it says of them is on record.
    tape, ledger = Tape(history, capture, compares_folders), Ledger(warnings=history.ledger.warnings.copy())

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
    # The recorded plan is run even if it names a skill that no longer exists.
    planned = history.plan.tasks if history.plan is not None else ()
    gone = [task.name for task in planned if task.action_type == "skill" and task.name]
    workspace = Workspace(paths, first, use, gone=gone, replayed=True, tools=history.functions)
    today, _ = functions.discover(paths.workspace, os.environ, first.skill_preferences)
    _compare_functions(history.functions, today, tape)
    recorded = RecordedRun.replayed(
        history, lambda read, what: tape.differs(f"task {read.task}", what), lambda what: tape.differs("files", what)
    )
    context = RunContext(goal, workspace, first, models, memo, artifacts, started.date, recorded=recorded)
    note(started)
    for attempt in history.calls.broken:  # what they took is on record; the replay itself has none
        note(attempt)
    note(tape.recorded(await _run(Pipeline(context), history)))
    return Replay(ledger.result(journal), tuple(tape.drift))


def _with_own_skills(paths: Paths, first: Mapping[str, Any]) -> Paths:
    """The paths with the folder of skills that the run had besides, if it is still there."""
    given = first.get("settings", {}).get("skills_dir")
    return paths.with_skills(given) if isinstance(given, str) and Path(given).is_dir() else paths


def _with_detector(settings: Settings, tape: Tape) -> Settings:
    """The settings; with goalwright's own detector if the run's is not installed any more."""
    if settings.detector in (detectors.DEFAULT, detectors.ASKING):
        return settings
    try:
        detectors.detector(settings.detector)
    except InputError as error:
        tape.differs("selection", f"skills are selected by {detectors.DEFAULT!r} now: {error.message}")
        return replace(settings, detector=detectors.DEFAULT)
    return settings


def _substitutes(started: RunStarted, workspace: Workspace, tape: Tape) -> dict[str, Path]:
    """The files that took the place of skills, as far as both are still there."""
    use = records.substitutes(started)
    for name, path in started.use.items():
        if name not in use:
            tape.differs("skills", f"skill {name!r}: the file used in its place, {path}, no longer exists")
        elif workspace.skills.registry.get(name) is None:
            tape.differs("skills", f"skill {name!r}, in whose place {path} was used, no longer exists")
            del use[name]
    return use


def _compare_functions(recorded: Sequence[RecordedTool], installed: Sequence[FunctionTool], tape: Tape) -> None:
    """Tell of functions that are described differently today; the replay offers them as they were, and those gone."""
    today = {tool.name: tool for tool in installed}
    for tool in recorded:
        now = today.get(tool.name)
        if now is None or (now.description, now.parameters) == (tool.description, tool.parameters):
            continue
        what = difference(tool.description, now.description) or "its parameters differ"
        tape.differs("tools", f"prompt of tasks: tool {tool.name!r} is described differently: {what}")


async def _run(pipeline: Pipeline, history: RunHistory) -> RunFinished:
    try:
        return await pipeline.run()
    except RecordEnded:
        return history.ledger.finished or RunFinished("interrupted", error="the record is incomplete")
    except GoalwrightError as error:
        message = error.message if error.code == "NO_PLAN" else str(error)
        return RunFinished("failed", error=message)
