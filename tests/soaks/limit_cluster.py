"""Kill workers of a batch by Ray that has a rate: no minute has more calls than that, and hardly one has fewer.

Eight workers share one limiter. One after the other is killed with -9, and Ray starts it again. The calls are counted
where they arrive.
"""

from __future__ import annotations

import os
import signal
import time
from bisect import bisect_left
from contextlib import closing
from typing import TYPE_CHECKING

from tests.openai_server import OpenAIServer
from tests.postgres import PostgresServer
from tests.ray_cluster import RayCluster
from tests.soaks.kill_cluster import ClusterBatch, slowly
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from tests.nursery import Nursery

WORKERS, RPM, CALLS = 8, 600, 3
WINDOW, EVERY = 60.0, 20.0
# Workers that start on a few cores, one after the other.
STARTING = 600.0


class LimitedBatch(ClusterBatch):
    """A batch with a rate."""

    workers = WORKERS

    def measure(self, kills: int, draw: Random) -> tuple[float, float]:
        """Kill workers, one every so often; returns when the first and the last call of it all were made."""
        process = self.start("--rpm", str(RPM), "--drain", "1")
        try:
            self._wait_until(process, lambda: self._beating() == WORKERS)
            began = time.monotonic()
            for _ in range(kills):
                self._sleep(process, EVERY)
                os.kill(draw.choice(self.cluster.workers()), signal.SIGKILL)
                self.kills += 1
            self._sleep(process, max(EVERY, began + WINDOW + EVERY - time.monotonic()))
            return began, time.monotonic()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)

    def _beating(self) -> int:
        """How many workers have begun a run."""
        if not self.server.calls:
            return 0
        ((there,),) = self.ask("SELECT count(*) FROM workers")
        return int(there)

    def _wait_until(self, process: subprocess.Popen[bytes], holds: Callable[[], bool]) -> None:
        until = time.monotonic() + STARTING
        while not holds():
            assert time.monotonic() < until, "the workers took too long to start"
            self._sleep(process, 0.5)

    def _sleep(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        time.sleep(seconds)
        assert process.poll() is None, self.said.read_text(encoding="utf-8")[-2000:]


def soak(_: Nursery, folder: Path, kills: int, draw: Random) -> str:
    """One batch with more goals than the rate allows in that time."""
    goals = int((kills * EVERY + 2 * WINDOW + STARTING) / 60 * RPM / CALLS)
    with OpenAIServer(slowly) as server, closing(PostgresServer(folder / "postgres")) as postgres:
        env = {"OPENAI_API_KEY": "sk-test", "HOME": str(folder), "OPENAI_API_BASE": server.base}
        env |= {"RAY_worker_niceness": "0"}  # a call that starts half a second late is given up
        with RayCluster(WORKERS, env) as cluster:
            batch = LimitedBatch(folder, cluster, server, postgres.new_url(), goals)
            began, ended = batch.measure(kills, draw)
    at = sorted(call.at for call in server.calls)
    starts = [moment for moment in at if began <= moment <= ended - WINDOW]
    counts = [(bisect_left(at, start + WINDOW) - bisect_left(at, start)) / RPM * 60 / WINDOW for start in starts]
    said = f"between {min(counts):.3f} and {max(counts):.3f} of rpm"
    assert max(counts) <= 1.02, said
    assert min(counts) >= 0.9, said
    return f"{batch.kills} kills of {WORKERS} workers, {len(at)} calls; in any {WINDOW:.0f} s {said}"


SOAK = Soak("limit-cluster", "kills workers of a batch by Ray that has a rate", soak, kills=6, short=0)
