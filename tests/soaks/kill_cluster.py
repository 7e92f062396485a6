"""Kill workers of a batch by Ray, a machine, and the batch itself: every goal is there once, unmixed.

The journal is in PostgreSQL, the provider and the cluster on this machine; one worker is on a node with processes of
its own, which is lost as a machine is. A goal here makes one call after another, so a kill costs at most one call for
each goal that the killed processes had.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from goalwright_executor.stores.postgres.address import address_of
from tests.openai_server import Answer, Call, OpenAIServer, Say
from tests.postgres import PostgresServer
from tests.ray_cluster import RayCluster, process_id
from tests.soaks.kill_batch import answering
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.nursery import Nursery
    from tests.ray_cluster import Machine

WORKERS, SLOTS = 4, 8
GOALS_PER_KILL = 10
# One of so many kills is not a worker's but the batch's own, a SIGTERM to it, or a machine's; of a few, more often.
OTHER_EVERY, OFTEN = 10, 2
_TWICE = "SELECT 1 FROM events WHERE type = 'call_finished' GROUP BY run, body::json ->> 'request' HAVING count(*) > 1"


def slowly(call: Call) -> Answer:
    """Answers after a moment, so that calls are in flight."""
    answer = answering(call)
    assert isinstance(answer, Say)
    return Say(answer.text, after=0.2)


class ClusterBatch:
    """A batch that is killed, in part or whole, until there were enough kills."""

    workers = WORKERS

    def __init__(self, folder: Path, cluster: RayCluster, server: OpenAIServer, url: str, goals: int) -> None:
        self.folder, self.cluster, self.server, self.goals = folder, cluster, server, goals
        self.env = {**os.environ, **cluster.env, "GOALWRIGHT_JOURNAL": url}
        address = address_of(url)
        options = f"-c search_path={address.schema}"
        self.connect: dict[str, Any] = {**address.parameters, "options": options, "autocommit": True}
        self.out, self.said = folder / "out.jsonl", folder / "said.txt"
        lines = [json.dumps({"id": f"g{number}", "goal": f"Goal number {number}"}) for number in range(goals)]
        (folder / "goals.jsonl").write_text("\n".join(lines), encoding="utf-8")
        self.kills = self.in_flight = 0
        self.others: Counter[str] = Counter()
        self.machine: Machine | None = None

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Start or resume it."""
        given = ["--model", "openai/test-model", "--engine", "ray", "--address", self.cluster.address]
        given += [
            "--workers",
            str(self.workers),
            "--slots",
            str(SLOTS),
            "--drain",
            "5",
            *more,
            *(["--resume"] if self.out.exists() else []),
        ]
        with self.said.open("ab") as said:
            command = [sys.executable, "-m", "goalwright", "batch", "goals.jsonl", "-o", self.out.name, *given]
            return subprocess.Popen(command, cwd=self.folder, env=self.env, stdout=said, stderr=said)

    def run(self, kills: int, draw: Random) -> None:
        """Run it to its end, with as many kills before."""
        self.machine = self.cluster.add_machine()
        process = self.start()
        while self.kills < kills and self._wait(process, draw.randrange(1, 4 * GOALS_PER_KILL)):
            self.kills += 1
            if self.kills % (OTHER_EVERY if kills > 4 * OTHER_EVERY else OFTEN):
                self._kill_worker(draw)
                continue
            match ("driver", "machine", "SIGTERM")[self.others.total() % 3]:
                case "driver":
                    self._kill_driver(process)
                    process = self.start()
                case "machine":
                    self._lose_machine()
                case _:
                    self._terminate(process)
                    process = self.start()
        assert process.wait(600) in (0, 1), self.said.read_text(encoding="utf-8")[-2000:]

    def _wait(self, process: subprocess.Popen[bytes], calls: int) -> bool:
        """Wait for more calls; false if the batch has ended before."""
        wanted = len(self.server.calls) + calls
        while len(self.server.calls) < wanted:
            if process.poll() is not None:
                return False
            time.sleep(0.005)
        return True

    def _kill_worker(self, draw: Random) -> None:
        pid = draw.choice(self.cluster.workers() or [0])
        if not pid:
            return
        space, inside = process_id(pid)
        before = self._held(space, inside)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self.in_flight += max(before, self._held(space, inside))

    def _lose_machine(self) -> None:
        """One machine is gone at once; another one joins."""
        assert self.machine is not None
        before = self._held(self.machine.space)
        self.machine.kill()
        self.others["machine"] += 1
        self.in_flight += max(before, self._held(self.machine.space))
        self.machine = self.cluster.add_machine()

    def _terminate(self, process: subprocess.Popen[bytes]) -> None:
        """The batch drains: calls under way have no time to end, and are made again."""
        before = self._held()
        process.terminate()
        status = process.wait(120)
        self.others["SIGTERM"] += 1
        self.in_flight += before
        assert status in (0, 130), (status, self.said.read_text(encoding="utf-8")[-2000:])
        if status:  # else its last goal had just ended
            assert self.said.read_text(encoding="utf-8").rstrip().endswith("--resume"), "with the command that resumes"

    def _kill_driver(self, process: subprocess.Popen[bytes]) -> None:
        before = self._held()
        process.kill()
        process.wait(30)
        self.others["driver"] += 1
        self.in_flight += max(before, self._held())

    def _held(self, space: str = "", pid: int = 0) -> int:
        """How many runs a process of a PID namespace holds, or all processes there, or all of them."""
        holders = [json.loads(holder) for (holder,) in self.ask("SELECT holder FROM runs WHERE holder > ''")]
        return sum(space in ("", one["space"]) and pid in (0, one["pid"]) for one in holders)

    def ask(self, statement: str) -> list[Any]:
        """Ask the journal's database."""
        with psycopg.connect(**self.connect) as connection:
            return connection.execute(statement).fetchall()

    def rows(self) -> list[dict[str, Any]]:
        """The lines of results."""
        return [json.loads(line) for line in self.out.read_text(encoding="utf-8").splitlines()]


def soak(_: Nursery, folder: Path, kills: int, draw: Random) -> str:
    """One batch with ten goals for each kill; what died three times with its workers is retried at the end."""
    goals = max(GOALS_PER_KILL * kills, 40)
    env = {"OPENAI_API_KEY": "sk-test", "HOME": str(folder)}
    with OpenAIServer(slowly) as server, closing(PostgresServer(folder / "postgres")) as postgres:
        given = env | {"OPENAI_API_BASE": server.base}
        with RayCluster(WORKERS - 1, given) as cluster:
            batch = ClusterBatch(folder, cluster, server, postgres.new_url(), goals)
            batch.run(kills, draw)
            first = batch.rows()
            lost = sum(row["error_code"] == "WORKER_LOST" for row in first)
            assert len(first) == goals, "0 lost"
            if lost:
                assert batch.start("--retry-errors").wait(600) == 0, batch.said.read_text(encoding="utf-8")[-2000:]
        return _figures(batch, server, lost)


def _figures(batch: ClusterBatch, server: OpenAIServer, lost: int) -> str:
    rows = batch.rows()
    assert Counter(row["id"] for row in rows) == Counter(f"g{number}" for number in range(batch.goals)), "0 twice"
    assert {row["id"]: row["answer"] for row in rows} == {
        f"g{number}": f"did second of Goal number {number}" for number in range(batch.goals)
    }
    assert batch.ask(_TWICE) == [], "no request has two answers on record"
    asked = Counter(call.user for call in server.calls)
    repeated = asked.total() - len(asked)
    assert repeated <= batch.in_flight, f"{repeated} calls were repeated, with {batch.in_flight} goals killed"
    return (
        f"{batch.kills} kills, of them {dict(batch.others)}, {batch.goals} goals: 0 lost, 0 twice, "
        f"0 requests with two answers, {repeated} calls repeated of {batch.in_flight} goals under way at kills, "
        f"{lost} goals given up after three workers and retried"
    )


SOAK = Soak(
    "kill-cluster",
    "kills workers, a machine and the driver of a batch by Ray, with ten goals for each kill",
    soak,
    short=0,
)
