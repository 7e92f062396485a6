"""The workers of a batch: each is checked when its process is new, heard twice a second, and replaced when lost."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft.batch.engine import Pace
from weft.batch.engines.ray.meters import Meters
from weft.batch.engines.ray.placement import Placement, Seat
from weft.batch.engines.ray.questions import BudgetAnswer
from weft.batch.limits.shared.budget import SharedBudget
from weft.version import __version__
from weft_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft.batch.engines.ray.cluster import WorkerLink
    from weft.batch.engines.ray.messages import WorkerFacts, WorkerReport
    from weft.models.budget import Budget
    from weft.runs.stop import Stop
    from weft_planner.events import Event

# No new goals for a worker whose last commit took longer, in seconds.
SLOW_COMMIT = 5.0
# A worker that says nothing for so long is lost; its goals continue elsewhere when their leases are free.
_SILENCE = 60.0
# Before a lost worker is asked again, and one whose journal is out of reach.
_PAUSE, _LONG_PAUSE = 0.3, 5.0
# How long workers may take to stop their goals, and to release what they hold.
_STOPPING, _CLOSING = 30.0, 15.0


@dataclass(slots=True)
class Crew:
    """The workers, the `budget` that is allotted to them, and the memory that each may use, in bytes.

    `say` is for what concerns the whole batch, `record` for events of goals. A process that was ended on purpose is
    `excused`: its goals are not blamed.
    """

    placement: Placement[WorkerLink]
    budget: Budget
    memory: float
    say: Callable[[str], None]
    record: Callable[[Event], object] = lambda _: None
    excused: set[str] = field(default_factory=set)
    meters: Meters = field(default_factory=Meters)
    _budget: SharedBudget = field(init=False)
    _told: set[str] = field(default_factory=set)
    _lost: set[str] = field(default_factory=set)
    _serving: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _stop: Stop | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _paces: dict[int, Pace] = field(default_factory=dict)
    _unfit: list[str] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._budget = SharedBudget(self.budget)

    @classmethod
    def of(
        cls, links: Sequence[WorkerLink], slots: int, budget: Budget, memory: float, say: Callable[[str], None]
    ) -> Crew:
        """Workers behind these links, each with these slots."""
        seats = [Seat(number, link, slots) for number, link in enumerate(links, 1)]
        return cls(Placement(seats), budget, memory, say)

    async def begin(self) -> None:
        """Wait for the first worker that can run goals; the others join as they get ready."""
        self._tasks = [asyncio.create_task(self._tend(seat)) for seat in self.placement.seats]
        while not self.placement.open:
            if not self.placement.seats:
                why = "; ".join(dict.fromkeys(self._unfit))
                raise SetupError(f"no worker can run goals: {why}", hint="fix it on the nodes, then run it again")
            await self._changed.wait()
            self._changed.clear()

    def heed(self, stop: Stop) -> None:
        """Stop the goals of all workers when the batch is stopped."""
        if self._stop is None:
            self._stop = stop
            self._tasks.append(asyncio.create_task(self._pass_on(stop)))

    def restart(self, seat: Seat[WorkerLink], process: str, why: str) -> None:
        """Have a worker's process replaced."""
        if process and process == seat.process and process not in self.excused:
            self.excused.add(process)
            self.say(f"worker {seat.number} on {seat.node} is started again: {why}")
            seat.link.restart()

    def pace(self) -> Pace:
        """How the calls of all workers go now."""
        paces, there, all_of_them = self._paces.values(), len(self.placement.open), len(self.placement.seats)
        longest = {one.model: one for pace in paces for one in sorted(pace.pauses, key=lambda one: one.seconds)}
        return Pace(
            sum(pace.calls for pace in paces),
            max((pace.most for pace in paces), default=0),  # one limiter's, for all of them
            max((pace.limit for pace in paces), default=0),
            tuple(longest.values()),
            f"{there} of {all_of_them} workers" if there < all_of_them else f"{there} workers",
        )

    async def close(self) -> None:
        """Have the workers release what they hold."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(TimeoutError):  # a lease that is not released expires
            async with asyncio.timeout(_CLOSING):
                closing = (seat.link.close() for seat in self.placement.open)
                await asyncio.gather(*closing, return_exceptions=True)
        for task in self._serving.values():  # not before: workers have just said what they spent
            task.cancel()
        await asyncio.gather(*self._serving.values(), return_exceptions=True)

    async def _tend(self, seat: Seat[WorkerLink]) -> None:
        while True:
            try:
                facts = await seat.link.begin()
                if facts.process in self._lost and self.budget.limited:
                    seat.link.restart()  # all that it was allotted counts as spent, so nothing is left for it
                    await asyncio.sleep(_PAUSE)
                    continue
                if facts.fault and facts.passing:
                    self.say(f"worker {seat.number} on {facts.node} waits: {facts.fault}")
                    await asyncio.sleep(_LONG_PAUSE)
                    continue
                if why := misfit(facts):
                    self._dismiss(seat, f"{facts.node}: {why}")
                    return
                self._tell_ignored(facts)
                seat.open(facts.process, facts.node)
                if self.budget.limited:
                    self._serving[seat.number] = asyncio.create_task(self._allot(seat))
                self._look()
                while True:
                    async with asyncio.timeout(_SILENCE):
                        report = await seat.link.report()
                    self._note(seat, report)
            except (ConnectionError, TimeoutError) as error:
                self._lose(seat)
                if getattr(error, "final", False):
                    self._dismiss(seat, str(error))
                    return
                await asyncio.sleep(_PAUSE)

    def _tell_ignored(self, facts: WorkerFacts) -> None:
        """Say once which settings do not count, and where: most workers are set up alike."""
        for what in facts.ignored:
            if what not in self._told:
                self._told.add(what)
                self.say(f"on {facts.node}, {what}: set it in the config.toml there")

    def _note(self, seat: Seat[WorkerLink], report: WorkerReport) -> None:
        self._paces[seat.number] = report.pace
        self.meters.report(seat.number, report)
        for event in report.events:
            self.record(event)
        full = report.memory > self.memory
        if full and not seat.goals:
            self.restart(seat, seat.process, "its memory is over its limit")
        slow = report.commit_seconds > SLOW_COMMIT and bool(seat.goals)  # without goals there is no next commit
        seat.held_back = "memory" if full else "journal" if slow else ""
        if report.stopped and self._stop is not None:
            self._stop.set()
        self._look()

    async def _allot(self, seat: Seat[WorkerLink]) -> None:
        """Answer what a worker asks of the budget, for as long as its process is there."""
        answer: BudgetAnswer | None = None
        with suppress(ConnectionError):
            while True:
                number, ask = await seat.link.fetch(answer)
                answer = BudgetAnswer(number, self._budget.ask(ask))

    def _lose(self, seat: Seat[WorkerLink]) -> None:
        if seat.process and seat.process not in self.excused:
            self.say(f"worker {seat.number} on {seat.node} is lost; its goals continue on other workers")
        self._paces.pop(seat.number, None)
        if seat.process:
            self._budget.lost(seat.process)
            self._lost.add(seat.process)
        if (serving := self._serving.pop(seat.number, None)) is not None:
            serving.cancel()
        seat.close()
        self._look()

    def _dismiss(self, seat: Seat[WorkerLink], why: str) -> None:
        self._unfit.append(why)
        self.say(f"worker {seat.number} is not used: {why}")
        self.placement.drop(seat)
        seat.link.end()
        if not self.placement.seats and self._stop is not None:
            self.say("no worker is left: the batch stops")
            self._stop.set()
        self._look()

    def _look(self) -> None:
        self._changed.set()
        self.placement.look()

    async def _pass_on(self, stop: Stop) -> None:
        """Stop the goals in all workers; those that do not answer are given up."""
        await stop.wait()
        for seat in self.placement.open:
            with suppress(ConnectionError):
                await seat.link.stop()
        await asyncio.sleep(_STOPPING)
        for seat in self.placement.open:
            seat.close()


def misfit(facts: WorkerFacts) -> str:
    """Why a worker cannot be used; empty if it can."""
    if facts.version != __version__:
        return f"it has weft {facts.version}, and this is {__version__}; install the same version there"
    return facts.fault or "; ".join(f"{problem.what}: {problem.remedy}" for problem in facts.problems)
