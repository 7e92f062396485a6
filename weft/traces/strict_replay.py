"""Strict replay: the same walk as a run's, with the recorded replies, date and tool results, and no call at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from executor.history.history import Past
from executor.history.ledger import Ledger
from executor.history.replay import Drift, Played, Tape, TapeMemory, reused
from executor.tasks.artifacts import Artifacts
from planner.errors import CutOff
from planner.events import PlanMade, RunFinished, RunStarted
from skills.errors import InputError, WeftError
from weft.models.open import profile_of
from weft.runs import records
from weft.runs.pipeline import Pursuit
from weft.workspace.workspace import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from executor.history.result import Result
    from executor.stores.row import Row
    from planner.events import Event, Record
    from planner.model import Role
    from planner.prompting.profile import Profile
    from weft.settings.paths import Places
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
class _Cast:
    """Which recorded model plays which role; a run that was taken up again may have had others from then on."""

    sittings: Sequence[Settings]
    tape: Tape
    memory: TapeMemory

    def playing(self, role: Role) -> Played:
        return self.named(self._name(role))

    def named(self, name: str) -> Played:
        return Played(name, self.tape, self.memory)

    def profile(self, role: Role, task: str | None = None) -> Profile:
        return profile_of(self._name(role, task))

    def _name(self, role: Role, task: str | None = None) -> str:
        return self.sittings[self.tape.past.sat.get((role, task), 0)].model_for(role) or "recorded"


async def strict(
    rows: Iterable[Row], places: Places, settings: Settings, *, journal: str | None = None, record: Record | None = None
) -> Replay:
    """Run a recorded run again, as it would be today, and say what differs."""
    rows = list(rows)
    if not rows:
        raise InputError("the record is empty", hint="name a run that `weft trace list` shows, or an exported trace")
    capture = records.capture(places, rows[0].run_id)
    past = Past.of(rows, capture)
    goal = records.goal_of(past)
    begun: RunStarted = past.started  # type: ignore[assignment]  # goal_of has seen that it is there
    sittings = [records.settings_of(one, settings, {}) for one in past.sittings]
    in_force = sittings[0]
    tape, ledger = Tape(past, capture), Ledger()

    def note(event: Event) -> None:
        ledger.note(event)
        tape.note(event)
        if record is not None:
            record(event)
        if isinstance(event, PlanMade):
            for one in reused(past):
                note(one)

    memory = TapeMemory.of(tape, note)
    artifacts = Artifacts.of(places.workspace, begun.run_id, written=False)
    cast = _Cast(sittings, tape, memory)
    use = records.substitutes(begun)
    for name in begun.use.keys() - use.keys():
        tape.differs("skills", f"skill {name!r}: the file that stood in its place, {begun.use[name]}, is gone")
    # A recorded plan is followed as far as it leads, also where it names a skill that is gone.
    gone = [task.name for task in past.planned.plan.tasks if task.action_type == "skill"] if past.planned else []
    surroundings = Surroundings(places, in_force, use, gone=[name for name in gone if name])
    pursuit = Pursuit(goal, surroundings, cast, memory, artifacts, begun.date)
    note(begun)
    note(await _walked(pursuit, past))
    return Replay(ledger.result(journal), tuple(tape.drift))


async def _walked(pursuit: Pursuit, past: Past) -> RunFinished:
    try:
        return await pursuit.walk()
    except CutOff:
        return past.ledger.finished or RunFinished("interrupted", error="the record ends before the run's end")
    except WeftError as error:
        message = error.message if error.code == "NO_PLAN" else str(error)
        return RunFinished("failed", error=message)
