"""Simulates a batch whose workers share a rate limiter, from a seed and in virtual time.

Goals make calls, sequentially or in pairs, with pauses. Messages are delayed or lost, calls fail, workers and the
limiter die, and clocks disagree. The calls must stay within the rate, and none may wait forever.
"""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.limits.shared.client import LimiterClient
from goalwright.batch.limits.shared.limiter import WINDOW, Limiter
from goalwright_planner.errors import ModelError, Overloaded, RateLimited, ServerFailed, Unreachable
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.virtual_time import run_virtually

if TYPE_CHECKING:
    from goalwright.batch.limits.shared.messages import LimiterGrant, LimiterRequest
    from goalwright_planner.model import Model

REQUEST = Request((Message("user", "hi"),))
# Seconds with faults; afterwards every message and call succeeds.
FAULTS = 40.0
# Seconds without a call that count as a deadlock: a dead limiter is closed for a minute, and a failed provider for half
# a minute.
STALL = 150.0


@dataclass
class Schedule:
    """The parameters drawn from the seed."""

    seed: int
    draw: random.Random = field(init=False)
    rates: Rates = field(init=False)

    def __post_init__(self) -> None:
        self.draw = draw = random.Random(self.seed)
        rpm = draw.choice((None, 12, 30, 60, 110, 240, 600, 1200))
        tpm = draw.choice((None, None, 3_000, 20_000, 100_000))
        self.rates = Rates(draw.choice((1, 2, 4, 8, 32)), rpm, tpm)
        self.slots, self.workers = draw.choice((1, 2, 4, 8)), draw.randint(1, 4)
        self.goals, self.calls = draw.randint(1, 2 * self.workers), draw.randint(1, 8)
        self.pause = draw.choice((0.0, 0.05, 0.3, 0.6, 0.6, 2.0))
        self.answer = draw.choice((0.0, 0.02, 0.2, 0.7))
        self.message = draw.choice((0.001, 0.01, 0.1, 0.4))
        self.lost = draw.choice((0.0, 0.0, 0.05, 0.3))
        self.failing = draw.choice((0.0, 0.0, 0.1, 0.5))
        self.deaths = sorted(draw.uniform(0, FAULTS) for _ in range(draw.randint(0, 4)))
        self.limiter_deaths = sorted(draw.uniform(0, FAULTS) for _ in range(draw.choice((0, 0, 0, 1))))


class Simulation:
    """The workers, the limiter, and a provider that records call times."""

    name = "openai/x"

    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.draw = schedule, schedule.draw
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.limiter: Limiter | None = Limiter(schedule.rates, self._clock())
        self.left = dict.fromkeys(range(schedule.goals), schedule.calls)
        self.at: list[float] = []
        self.started = 0
        self.workers = [self._start() for _ in range(schedule.workers)]

    async def run(self) -> None:
        """Run until every goal has made its calls; raise on a deadlock or an exceeded rate."""
        dying = asyncio.ensure_future(self._die())
        try:
            while any(self.left.values()):
                await asyncio.sleep(1.0)
                last = self.at[-1] if self.at else self.began
                stalled = {goal: left for goal, left in self.left.items() if left and self.loop.time() > last + STALL}
                assert not stalled, f"seed {self.schedule.seed}: calls that nobody makes: {stalled}"
        finally:
            dying.cancel()
            for worker in self.workers:
                await _end(worker)
        self._check_rate()

    async def complete(self, request: Request) -> Reply:
        """Answer a call, or fail."""
        self.at.append(self.loop.time())
        await asyncio.sleep(self.draw.uniform(0, 2) * self.schedule.answer)
        if self._faulty and self.draw.random() < self.schedule.failing:
            kind = self.draw.choice((RateLimited, Overloaded, ServerFailed, Unreachable))
            raise kind("no", retry_after=self.draw.choice((None, 1.0, 8.0)))
        return Reply("ok", usage=Usage(1, 150, self.draw.randrange(300)))

    @property
    def _faulty(self) -> bool:
        return self.loop.time() - self.began < FAULTS

    def _clock(self) -> Clock:
        return Clock(self.loop, self.draw.uniform(0, 1e5), 1 + self.draw.uniform(-1e-4, 1e-4))

    def _start(self) -> list[asyncio.Task[None]]:
        """Start a worker with its own clock, for the goals of its predecessor or for its share."""
        self.started += 1
        schedule, place = self.schedule, (self.started - 1) % self.schedule.workers
        rates = Rates(schedule.slots, schedule.rates.rpm, schedule.rates.tpm)
        client = LimiterClient(f"w{self.started}", rates, self._ask, self._clock())
        goals = [self._goal(client, goal) for goal in self.left if goal % schedule.workers == place]
        return [asyncio.create_task(one) for one in (client.run(), *goals)]

    async def _goal(self, client: LimiterClient, goal: int) -> None:
        model = client.limits.around(self, str(goal))
        while left := self.left[goal]:
            together = min(left, 2 if goal % 3 == 0 else 1)
            await asyncio.gather(*(self._call(model, goal) for _ in range(together)))
            await asyncio.sleep(self.draw.uniform(0, 2) * self.schedule.pause)

    async def _call(self, model: Model, goal: int) -> None:
        while True:
            try:
                await model.complete(REQUEST)
            except ModelError:
                await asyncio.sleep(self.draw.uniform(0, 1))
            else:
                self.left[goal] -= 1
                return

    async def _ask(self, message: LimiterRequest) -> LimiterGrant:
        await self._travel()
        if self.limiter is None:
            raise ConnectionError
        answer = self.limiter.grant(message)
        await self._travel()
        return answer

    async def _travel(self) -> None:
        late = self.draw.expovariate(1 / self.schedule.message) if self._faulty else 0.002
        if self._faulty and self.draw.random() < self.schedule.lost:
            if self.draw.random() < 0.5:
                raise ConnectionError
            await asyncio.sleep(3_600)
        await asyncio.sleep(late)

    async def _die(self) -> None:
        schedule = self.schedule
        deaths = [(at, False) for at in schedule.deaths] + [(at, True) for at in schedule.limiter_deaths]
        for at, is_limiter in sorted(deaths):
            await asyncio.sleep(max(0.0, self.began + at - self.loop.time()))
            if is_limiter:
                self.limiter = None
                await asyncio.sleep(self.draw.uniform(0, 3))
                self.limiter = Limiter(schedule.rates, self._clock())
                continue
            place = self.draw.randrange(len(self.workers))
            await _end(self.workers[place])
            self.started += (place - self.started) % schedule.workers
            await asyncio.sleep(self.draw.uniform(0, 2))
            self.workers[place] = self._start()

    def _check_rate(self) -> None:
        rpm, at = self.schedule.rates.rpm, self.at
        if rpm:
            most = max(bisect_left(at, start + WINDOW) - number for number, start in enumerate(at))
            assert most <= rpm, f"seed {self.schedule.seed}: {most} calls in a minute, not {rpm}"


@dataclass(frozen=True)
class Clock:
    """A clock with an offset and a drift."""

    loop: asyncio.AbstractEventLoop
    offset: float
    pace: float

    def __call__(self) -> float:
        return self.loop.time() * self.pace + self.offset


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        assert ended is None or isinstance(ended, asyncio.CancelledError), repr(ended)


def run_schedule(seed: int) -> int:
    """Run the schedule of a seed; return the number of calls."""
    made: list[int] = []

    async def main() -> None:
        simulation = Simulation(Schedule(seed))
        await simulation.run()
        made.append(len(simulation.at))

    run_virtually(main())
    return made[0]
