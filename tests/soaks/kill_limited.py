"""Kill and freeze workers that share one limiter: no minute has more calls than the rate, and hardly one has fewer.

Eight processes make calls as fast as the limiter lets them. Every few seconds one is killed with -9, or frozen for
longer than what it was dealt lasts, and another is started in its place.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time
from bisect import bisect_left
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.limits.shared.client import LimiterClient
from goalwright.batch.limits.shared.limiter import Limiter
from goalwright.batch.limits.shared.messages import LATE, LimiterGrant, LimiterRequest
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import random

    from tests.nursery import Nursery, Process

WORKERS, SLOTS, RPM = 8, 8, 600
WINDOW = 60.0
# A process on a busy machine may note a call this long after it was let go.
NOTED_LATE = 0.5
EVERY = 4.0


class Provider:
    """Notes when each call is made, in a file, and takes a while."""

    name = "openai/x"

    def __init__(self, path: Path) -> None:
        self.file = path.open("a", encoding="ascii", buffering=1)

    async def complete(self, request: Request) -> Reply:
        self.file.write(f"{time.monotonic()}\n")
        await asyncio.sleep(0.3)
        return Reply("ok", usage=Usage(1, 100, 200))


async def work(folder: Path, name: str) -> None:
    """In a process of its own: make calls, as many as are allowed, until killed."""
    reader, writer = await asyncio.open_unix_connection(folder / "limiter")

    async def ask(message: LimiterRequest) -> LimiterGrant:
        writer.write(_line(message))
        answer = _value(await reader.readline())
        assert isinstance(answer, LimiterGrant)
        return answer

    client, provider = LimiterClient(name, Rates(SLOTS, RPM), ask), Provider(folder / f"{name}.calls")

    async def goal(number: int) -> None:
        model = client.limits.around(provider, str(number))
        while True:
            await model.complete(Request((Message("user", "hi"),)))

    await asyncio.gather(client.run(), *map(goal, range(SLOTS * 2)))


async def drive(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Serve the limiter, and kill or freeze one worker after another."""
    limiter = Limiter(Rates(WORKERS * SLOTS, RPM))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(_line(limiter.grant(_value(line))))
        writer.close()

    server = await asyncio.start_unix_server(serve, folder / "limiter")
    started = 0

    def start() -> Process:
        nonlocal started
        started += 1
        command = ["-m", "tests.soaks.kill_limited", str(folder), f"w{started}"]
        return nursery.start(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    workers = [start() for _ in range(WORKERS)]
    try:
        await asyncio.sleep(EVERY)
        began = time.monotonic()
        for _ in range(kills):
            victim = draw.randrange(WORKERS)
            if draw.random() < 0.3:
                os.kill(workers[victim].pid, signal.SIGSTOP)
                await asyncio.sleep(EVERY)
                os.kill(workers[victim].pid, signal.SIGCONT)
            else:
                workers[victim].kill()
                await asyncio.to_thread(workers[victim].wait)
                workers[victim] = start()
                await asyncio.sleep(EVERY)
        return _figures(folder, began, time.monotonic(), kills)
    finally:
        server.close()
        for worker in workers:
            worker.kill()
        for worker in workers:
            await asyncio.to_thread(worker.communicate)


def _line(value: object) -> bytes:
    return pickle.dumps(value).hex().encode() + b"\n"


def _value(line: bytes) -> Any:
    return pickle.loads(bytes.fromhex(line.decode()))  # noqa: S301 - both ends are this test


def _figures(folder: Path, began: float, ended: float, kills: int) -> str:
    at = sorted(float(line) for path in folder.glob("*.calls") for line in path.read_text().split())
    window = min(WINDOW, (ended - began) / 2)
    due = RPM * window / 60.0
    starts = [moment for moment in at if began <= moment <= ended - window]
    counts = [bisect_left(at, start + window) - bisect_left(at, start) for start in starts]
    most, fewest = max(counts) / due, min(counts) / due
    assert most <= (1.02 if window == WINDOW else 1 + (LATE + NOTED_LATE) / window), f"{most:.3f} of the rate"
    assert window < WINDOW or fewest >= 0.9, f"{fewest:.3f} of the rate"
    return (
        f"{kills} kills or freezes, {len(at)} calls; in any {window:.0f} s between {fewest:.3f} and {most:.3f} of rpm"
    )


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Run it in a folder with a short path, which a socket needs."""
    return asyncio.run(drive(nursery, folder, kills, draw))


SOAK = Soak("kill-limited", "kills and freezes workers that share one limiter", soak, kills=40, short=1)

if __name__ == "__main__":
    with suppress(KeyboardInterrupt, ConnectionError):
        asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
