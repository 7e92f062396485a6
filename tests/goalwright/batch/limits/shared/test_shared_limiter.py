"""One limiter for eight workers: real queues, limiters and clients on a simulated clock."""

from __future__ import annotations

import asyncio
import pickle
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.limits.shared.client import LimiterClient
from goalwright.batch.limits.shared.limiter import Limiter
from goalwright.batch.limits.shared.messages import LimiterRequest, ModelRequest
from goalwright_planner.errors import ModelError, RateLimited, ServerFailed
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.virtual_time import run_virtually

if TYPE_CHECKING:
    from goalwright.batch.limits.shared.messages import LimiterGrant

REQUEST = Request((Message("user", "hi"),))


@dataclass
class Provider:
    """Answers after a while, and notes when it was called."""

    seconds: float = 0.7
    failure: ModelError | None = None
    name: str = "openai/x"
    at: list[float] = field(default_factory=list)
    running: int = 0
    most: int = 0

    async def complete(self, request: Request) -> Reply:
        self.at.append(asyncio.get_running_loop().time())
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.seconds)
            if self.failure is not None:
                raise self.failure
            return Reply("ok", usage=Usage(1, 150, 150))
        finally:
            self.running -= 1

    def within(self, window: float, begin: float, end: float) -> tuple[int, int]:
        """The least and the most calls in any window of so many seconds between two times."""
        at = [moment for moment in sorted(self.at) if begin <= moment <= end]
        counts = [bisect_left(at, start + window) - bisect_left(at, start) for start in at if start + window <= end]
        return min(counts), max(counts)


class Cluster:
    """Workers with clocks of their own, a limiter, and messages that take time; any of them can die."""

    def __init__(self, rates: Rates, provider: Provider, slots: int = 4, workers: int = 8) -> None:
        self.loop = asyncio.get_running_loop()
        self.rates, self.provider, self.slots = rates, provider, slots
        self.limiter: Limiter | None = Limiter(rates, self.loop.time)
        self.messages = 0
        self.calls: Counter[int] = Counter()
        self.workers = {number: self.start(number) for number in range(workers)}

    def start(self, number: int) -> list[asyncio.Task[None]]:
        async def ask(message: LimiterRequest) -> LimiterGrant:
            return await self.ask(message, number / 1_000)

        own = Rates(self.slots, self.rates.rpm, self.rates.tpm)
        client = LimiterClient(f"w{number}", own, ask, lambda: self.loop.time() + number * 3_600)

        async def goal(name: str) -> None:
            model = client.limits.around(self.provider, name)
            while True:
                try:
                    await model.complete(REQUEST)
                    self.calls[number] += 1
                except ModelError:
                    await asyncio.sleep(0.05)

        goals = [goal(f"{number}-{each}") for each in range(self.slots + 4)]
        return [asyncio.create_task(one) for one in (client.run(), *goals)]

    async def ask(self, message: LimiterRequest, late: float = 0.0) -> LimiterGrant:
        self.messages += 1
        await asyncio.sleep(0.003 + late)
        if self.limiter is None:
            raise ConnectionError
        if self.messages % 10 == 1:
            message = pickle.loads(pickle.dumps(message))  # noqa: S301 - its own
        answer = self.limiter.grant(message)
        await asyncio.sleep(0.002)
        return answer

    async def kill(self, number: int) -> None:
        tasks = self.workers.pop(number)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        for number in list(self.workers):
            await self.kill(number)


def test_eight_workers_respect_and_use_the_rate_while_some_die() -> None:
    provider, rpm = Provider(), 300

    async def main() -> None:
        cluster = Cluster(Rates(256, rpm), provider)
        began = cluster.loop.time()
        await asyncio.sleep(70)
        await cluster.kill(3)
        await asyncio.sleep(20)
        await cluster.kill(5)
        cluster.workers[5] = cluster.start(5)
        await asyncio.sleep(70)
        await cluster.close()
        fewest, most = provider.within(60, began + 1, began + 159)
        assert most <= rpm, "in no minute more than rpm"
        assert fewest >= 0.95 * rpm

    run_virtually(main())


def test_tokens_are_shared() -> None:
    provider = Provider()  # 300 tokens a call, estimated at a few more

    async def main() -> None:
        cluster = Cluster(Rates(256, tpm=60_000), provider)
        began = cluster.loop.time()
        await asyncio.sleep(30)
        await cluster.kill(3)
        await asyncio.sleep(150)
        await cluster.close()
        fewest, most = provider.within(60, began + 70, began + 179)
        assert 0.9 * 200 <= fewest <= most <= 1.02 * 200

    run_virtually(main())


def test_without_rates_calls_do_not_wait_and_messages_are_few() -> None:
    provider = Provider(seconds=0.1)

    async def main() -> None:
        cluster = Cluster(Rates(96), provider, slots=12)
        await asyncio.sleep(3)
        await cluster.close()
        assert len(provider.at) >= 0.97 * 96 * 3 / 0.1
        assert cluster.messages <= 8 * 4.5 * 3

    run_virtually(main())


def test_pause_of_one_worker_applies_to_all() -> None:
    provider = Provider(seconds=0.1)

    async def main() -> None:
        cluster = Cluster(Rates(64), provider, slots=8)
        await asyncio.sleep(2)
        provider.failure = RateLimited("slow", retry_after=30)
        await asyncio.sleep(0.15)
        provider.failure = None
        paused = cluster.loop.time()
        await asyncio.sleep(31)
        await cluster.close()
        assert not [at for at in provider.at if paused + 0.4 < at < paused + 29.5]
        assert [at for at in provider.at if at > paused + 30]

    run_virtually(main())


def test_provider_that_is_down_is_probed_by_one_worker() -> None:
    provider = Provider(seconds=0.1)

    async def main() -> None:
        cluster = Cluster(Rates(64), provider, slots=8)
        await asyncio.sleep(2)
        provider.failure = ServerFailed("down")
        await asyncio.sleep(5)
        provider.most, before = 0, len(provider.at)
        await asyncio.sleep(60)
        assert provider.most == 1
        assert 2 <= len(provider.at) - before <= 8, "one try in a pause of up to 30 seconds"
        provider.failure = None
        async with asyncio.timeout(40):
            while len([at for at in provider.at if at > cluster.loop.time() - 1]) <= 100:  # noqa: ASYNC110 - virtual
                await asyncio.sleep(1)
        await cluster.close()

    run_virtually(main())


def test_overload_reduces_total_concurrency() -> None:
    provider = Provider(seconds=0.1)

    async def main() -> None:
        cluster = Cluster(Rates(64), provider, slots=8)
        await asyncio.sleep(2)
        for _ in range(6):
            provider.failure = RateLimited("slow")
            await asyncio.sleep(0.12)
            provider.failure = None
            await asyncio.sleep(1.5)
        provider.most = provider.running
        await asyncio.sleep(0.5)
        assert provider.most <= 40
        await cluster.close()

    run_virtually(main())


def test_restarted_limiter_is_closed_for_a_minute() -> None:
    provider = Provider()

    async def main() -> None:
        cluster = Cluster(Rates(256, rpm=300), provider)
        await asyncio.sleep(30)
        cluster.limiter = None
        died = cluster.loop.time()
        await asyncio.sleep(3)
        cluster.limiter = Limiter(cluster.rates, cluster.loop.time)
        await asyncio.sleep(90)
        await cluster.close()
        assert not [at for at in provider.at if died + 1 < at < died + 63]
        assert len([at for at in provider.at if at > died + 64]) > 120
        assert provider.within(60, died - 30, died + 93)[1] <= 300

    run_virtually(main())


def test_limiter_ignores_permits_of_another_limiter() -> None:
    limiter = Limiter(Rates(8, rpm=600), lambda: 100.0)
    asked = ModelRequest(demand=1, wanted=(300,), returned=(60_000.0,))
    limiter.grant(LimiterRequest("w", 1, {"m": asked}, limiter="one that died"))
    limiter.restarted, limiter._models["m"].state.opens_at = False, 0.0  # as a minute later
    answer = limiter.grant(LimiterRequest("w", 1, {"m": ModelRequest(demand=1, wanted=(300,))}, limiter.id))
    assert answer.models["m"].starts == (100.0,)


def test_frozen_worker_has_no_permits_when_it_returns() -> None:
    now = 0.0
    answers: list[LimiterGrant] = []
    limiter = Limiter(Rates(64, rpm=600), lambda: now)

    async def ask(message: LimiterRequest) -> LimiterGrant:
        answers.append(limiter.grant(message))
        return answers[-1]

    async def main() -> None:
        nonlocal now
        client = LimiterClient("w", Rates(32, 600), ask, lambda: now)
        provider = Provider(seconds=0.0)
        calls = [asyncio.ensure_future(client.limits.around(provider, str(n)).complete(REQUEST)) for n in range(20)]
        await asyncio.sleep(0)
        await client.exchange()
        assert len(answers[0].models["openai/x"].starts) >= 5
        now += 10.0  # as if the process had been stopped
        assert client.limits.limiter("openai/x").wait(300) > 60
        assert len(provider.at) <= 1
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    run_virtually(main())


def test_call_just_after_last_message_of_idle_worker_is_made() -> None:
    provider = Provider(seconds=0.0)

    async def main() -> None:
        cluster = Cluster(Rates(8, rpm=60), provider, slots=0, workers=0)
        client = LimiterClient("w", Rates(4, 60), cluster.ask, cluster.loop.time)
        talking = asyncio.create_task(client.run())
        model = client.limits.around(provider, "goal")
        for hundredths in range(20, 90, 2):  # a worker is idle half a second after its last call
            async with asyncio.timeout(30):
                await model.complete(REQUEST)
            await asyncio.sleep(hundredths / 100)
        talking.cancel()

    run_virtually(main())


@pytest.mark.parametrize(("max_calls", "rpm", "workers"), [(1, 60, 4), (2, 12, 4), (2, 110, 8), (4, 240, 8)])
def test_rate_is_used_with_fewer_slots_than_workers(max_calls: int, rpm: int, workers: int) -> None:
    provider = Provider(seconds=0.2)

    async def main() -> None:
        cluster = Cluster(Rates(max_calls, rpm), provider, slots=2, workers=workers)
        await asyncio.sleep(120)
        await cluster.close()
        assert provider.most <= max_calls
        assert 0.6 * 2 * rpm <= len(provider.at) <= 2 * rpm, "a worker without a slot gets no permit"

    run_virtually(main())


def test_small_rates_starve_no_worker() -> None:
    provider = Provider(seconds=0.1)

    async def main() -> None:
        cluster = Cluster(Rates(64, rpm=30), provider, slots=2)
        await asyncio.sleep(120)
        await cluster.close()
        assert 55 <= sum(cluster.calls.values()) <= 61
        assert min(cluster.calls[number] for number in range(8)) >= 5

    run_virtually(main())
