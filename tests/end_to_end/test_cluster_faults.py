"""What breaks a cluster without killing anything: frozen workers, an outage, equal names, wrong clocks, cut commits.

The nodes are processes of this machine in PID namespaces of their own, so their leases are those of other machines.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.errors import RunHeld
from goalwright_executor.stores.lease import SHARED_EXPIRY, myself
from tests.commit_cutter import CommitCutter
from tests.needs import needs_pid_namespaces
from tests.openai_server import Answer, Call, OpenAIServer, Say
from tests.postgres import PostgresServer, postgres_folder
from tests.ray_batch import SLOTS, RayBatch, Swapped
from tests.ray_cluster import RayCluster
from tests.soaks.kill_batch import answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright_executor.stores.store import Store
    from tests.nursery import Nursery, Ran
    from tests.ray_cluster import Machine

pytestmark = [pytest.mark.slow, pytest.mark.long, needs_pid_namespaces]

# An hour ahead, for Python and all that it imports; the monotonic clock is left alone, as it is by a wrong date.
CLOCK = """
import datetime, time
_time, _time_ns, _datetime = time.time, time.time_ns, datetime.datetime
time.time = lambda: _time() + 3600
time.time_ns = lambda: _time_ns() + 3600 * 10**9

class Shifted(_datetime):
    @classmethod
    def now(cls, tz=None):
        return _datetime.now(tz) + datetime.timedelta(hours=1)

    @classmethod
    def utcnow(cls):
        return _datetime.utcnow() + datetime.timedelta(hours=1)

datetime.datetime = Shifted
"""


def taking(seconds: float) -> Callable[[Call], Answer]:
    """Answers after so long."""

    def script(call: Call) -> Answer:
        answer = answering(call)
        assert isinstance(answer, Say)
        return Say(answer.text, after=seconds)

    return script


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Swapped()) as server:
        yield server


@pytest.fixture(scope="module")
def cluster(server: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    env = {"OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path_factory.mktemp("node"))}
    with RayCluster(cores=0, given=env) as cluster:
        yield cluster


@pytest.fixture
def begin(
    tmp_path: Path, cluster: RayCluster, server: OpenAIServer, nursery: Nursery
) -> Iterator[Callable[..., RayBatch]]:
    """Make a batch with a journal, so many goals, and calls that take so long."""
    with ExitStack() as left:

        def make(url: str, goals: int, seconds: float) -> RayBatch:
            batch = left.enter_context(closing(RayBatch(tmp_path / "work", cluster, server, url, goals, nursery)))
            batch.answer(taking(seconds))
            return batch

        yield make


@pytest.fixture
def two(cluster: RayCluster) -> Iterator[tuple[Machine, Machine]]:
    """Two machines of one host name, each with one worker."""
    first, second = cluster.add_machine(), cluster.add_machine()
    yield first, second
    for machine in (first, second):
        machine.kill()


def claimed(store: Store, run_id: str) -> str:
    """What a process of this machine, which is none of the two, is told that wants to take over a run."""
    try:
        store.claim(run_id, myself())
    except RunHeld as error:
        return error.message
    return ""


def replay_strictly(batch: RayBatch, goalwright: Callable[..., Ran], runs: set[str]) -> None:
    assert runs
    for run in sorted(runs)[:3]:
        replayed = goalwright("replay", run, "--strict", env={"GOALWRIGHT_JOURNAL": batch.url}, cwd=batch.folder)
        assert replayed.status == 0, replayed.err + replayed.out


def test_a_worker_frozen_beyond_its_lease_loses_its_runs_and_nothing_else(
    postgres: PostgresServer,
    two: tuple[Machine, Machine],
    goalwright: Callable[..., Ran],
    begin: Callable[..., RayBatch],
) -> None:
    frozen, other = two
    batch = begin(postgres.new_url(), 160, 2.0)
    open_store(batch.url).close()
    batch.change("ALTER TABLE events ADD COLUMN writer INTEGER DEFAULT pg_backend_pid()")
    process = batch.start("--workers", "2")
    batch.wait_for_holders(process, frozen.space, other.space)
    pid = frozen.worker()
    os.kill(pid, signal.SIGSTOP)
    at, lost = time.monotonic(), batch.held(frozen.space)
    batch.wait(process, lambda: len(lost & batch.held(frozen.space)) < len(lost) - 2)
    assert time.monotonic() - at > SHARED_EXPIRY
    os.kill(pid, signal.SIGCONT)  # what it was answered meanwhile, it writes now
    batch.wait(process, lambda: len(batch.held(frozen.space) - lost) > 0)  # it goes on with other goals
    _, err = process.communicate(timeout=600)
    assert (process.returncode, "is lost; its goals continue on other workers" in err) == (0, True), err
    batch.check()
    taken = {run: writers for run, writers in batch.writers().items() if len(writers) > 1}
    assert len(taken) >= 3, "they were taken over"
    assert set(taken) <= lost
    assert all(len(writers) == len(set(writers)) for writers in taken.values()), "none wrote after it had lost a run"
    assert 0 < batch.repeated() <= SLOTS, "those that were under way when it froze"
    replay_strictly(batch, goalwright, set(taken))


def test_an_outage_longer_than_a_lease_costs_no_run_and_no_call(
    tmp_path: Path,
    two: tuple[Machine, Machine],
    begin: Callable[..., RayBatch],
) -> None:
    with postgres_folder() as folder, closing(PostgresServer(Path(folder), own=True)) as postgres:
        batch = begin(postgres.new_url(), 60, 2.0)
        process = batch.start("--workers", "2")
        batch.wait_for_holders(process, two[0].space, two[1].space)
        (run_id, *_) = batch.held(two[0].space)
        told: list[str] = []
        with closing(open_store(batch.url, create=False)) as store:
            rival = threading.Thread(target=lambda: told.append(claimed(store, run_id)))
            postgres.stop()
            rival.start()  # it asks as soon as the server is back, when every heartbeat is old
            time.sleep(SHARED_EXPIRY + 10)
            calls = len(batch.server.calls)
            assert process.poll() is None
            postgres.start()
            rival.join(SHARED_EXPIRY + 30)
        _, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        assert calls < 60 * 3, "it stood still meanwhile"
        assert [f"run {run_id} is in use by" in one for one in told] == [True], told
        batch.check()
        assert batch.repeated() == 0, "what was answered is committed when the server is back"


def test_machines_of_one_host_name_are_two(
    postgres: PostgresServer,
    two: tuple[Machine, Machine],
    goalwright: Callable[..., Ran],
    begin: Callable[..., RayBatch],
) -> None:
    dead, other = two
    batch = begin(postgres.new_url(), 60, 2.0)
    process = batch.start("--workers", "2")
    batch.wait_for_holders(process, dead.space, other.space)
    holders = [json.loads(holder) for (holder,) in batch.ask("SELECT DISTINCT holder FROM runs WHERE holder > ''")]
    assert (len({one["host"] for one in holders}), len({one["space"] for one in holders})) == (1, 2)
    (live, *_), lost = batch.held(other.space), batch.held(dead.space)
    with closing(open_store(batch.url, create=False)) as store:
        assert "is in use by" in claimed(store, live), "although no process here has that id"
    dead.kill()
    at = time.monotonic()
    batch.wait(process, lambda: batch.held(dead.space) < lost)
    assert time.monotonic() - at > SHARED_EXPIRY - 6, "only its last heartbeat tells, which was 5 s before at most"
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    batch.check()
    assert 0 < batch.repeated() <= SLOTS
    replay_strictly(batch, goalwright, lost)


def test_clocks_an_hour_apart_change_nothing(
    tmp_path: Path,
    cluster: RayCluster,
    postgres: PostgresServer,
    goalwright: Callable[..., Ran],
    begin: Callable[..., RayBatch],
) -> None:
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path / "clock"), os.environ.get("PYTHONPATH", "")]))
    right, ahead = cluster.add_machine(), cluster.add_machine(env={"PYTHONPATH": path})
    try:
        batch = begin(postgres.new_url(), 60, 1.0)
        process = batch.start("--workers", "2")
        batch.wait_for_holders(process, right.space, ahead.space)
        lost = batch.held(right.space)
        os.kill(right.worker(), signal.SIGSTOP)  # the other one, by whose clock it is silent for an hour, must wait
        at = time.monotonic()
        batch.wait(process, lambda: batch.held(right.space) < lost)
        assert time.monotonic() - at > SHARED_EXPIRY - 6
        batch.wait(process, lambda: not lost & batch.held(right.space))
        os.kill(right.worker(), signal.SIGKILL)
        _, err = process.communicate(timeout=600)
    finally:
        for machine in (right, ahead):
            machine.kill()
    assert process.returncode == 0, err
    batch.check()
    assert 0 < batch.repeated() <= SLOTS
    hours = Counter(at[:13] for (at,) in batch.ask("SELECT at FROM events"))
    assert len(hours) > 1, "the clocks did differ"
    taken = {row["run_id"]: row["seconds"] for row in batch.rows()}
    assert all(0 <= seconds < 1800 for seconds in taken.values()), taken
    replay_strictly(batch, goalwright, lost)


def test_a_connection_cut_during_commit_writes_nothing_twice(
    postgres: PostgresServer,
    two: tuple[Machine, Machine],
    begin: Callable[..., RayBatch],
) -> None:
    del two
    seed = random.randrange(10**6)
    with CommitCutter(postgres.new_url(), random.Random(seed)) as cutter:
        batch = begin(cutter.url, 60, 0.2)
        status, said = batch.run("--workers", "2")
        assert status == 0, (seed, said)
        batch.check()
    figures: dict[str, Any] = {"seed": seed, **cutter.cuts}
    assert min(cutter.cuts["before"], cutter.cuts["after"]) >= 3, figures
    assert batch.repeated() == 0, figures
