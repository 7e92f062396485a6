"""`weft batch --engine ray` with real Ray and a real PostgreSQL: workers, driver and goals die, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from executor.journal.open_store import open_store
from executor.stores.postgres.address import address_of
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script
from tests.ray_cluster import RayCluster
from tests.soaks.kill_batch import answering
from weft.settings.ray_security import answers_without_token
from weft.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.nursery import Ran
    from tests.postgres import PostgresServer

pytestmark = pytest.mark.slow

GOALS = 30
ROOT = Path(__file__).parents[2]


class Swapped:
    """A script that tests change: the workers' environment names one server for all of them."""

    def __init__(self) -> None:
        self.script: Script = answering

    def __call__(self, call: Call) -> Answer:
        return self.script(call)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Swapped()) as server:
        yield server


@pytest.fixture(scope="module")
def cluster(server: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    env = {"OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path_factory.mktemp("node"))}
    with RayCluster(cores=2, given=env) as cluster:
        yield cluster


class RayBatch:
    """A batch of goals in a folder, on the cluster."""

    def __init__(self, folder: Path, cluster: RayCluster, server: OpenAIServer, url: str) -> None:
        self.folder, self.cluster, self.server, self.url = folder, cluster, server, url
        self.out = folder / "out.jsonl"
        folder.mkdir()
        lines = [json.dumps({"id": f"g{number}", "goal": f"Goal number {number}"}) for number in range(GOALS)]
        (folder / "goals.jsonl").write_text("\n".join(lines), encoding="utf-8")
        server.calls.clear()
        self.answer(answering)

    def answer(self, script: Script) -> None:
        assert isinstance(self.server.script, Swapped)
        self.server.script.script = script

    def start(self, *more: str) -> subprocess.Popen[str]:
        given = ["--model", "openai/test-model", "--engine", "ray", "--address", self.cluster.address, "--slots", "8"]
        command = [sys.executable, "-m", "weft", "batch", "goals.jsonl", "-o", "out.jsonl", *given, *more]
        env = {**os.environ, **self.cluster.env, "WEFT_JOURNAL": self.url}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, env=env, stdout=pipe, stderr=pipe, text=True)

    def run(self, *more: str) -> tuple[int, str]:
        process = self.start(*more)
        out, err = process.communicate(timeout=240)
        return process.returncode, out + err

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text(encoding="utf-8").splitlines()]

    def wait_for_calls(self, number: int, process: subprocess.Popen[str]) -> None:
        until = time.monotonic() + 150
        while len(self.server.calls) < number:
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                pytest.fail(f"only {len(self.server.calls)} calls: {process.communicate(timeout=30)}")
            time.sleep(0.02)

    def repeated(self) -> int:
        return sum(times - 1 for times in Counter(call.user for call in self.server.calls).values())

    def ask(self, statement: str, *given: object) -> list[Any]:
        address = address_of(self.url)
        options = f"-c search_path={address.schema}"
        with psycopg.connect(**{**address.parameters, "options": options}, autocommit=True) as connection:
            return connection.execute(statement, given).fetchall()

    def check(self) -> None:
        """Every goal has one line, with its own answer, and no request two answers on record."""
        rows = self.rows()
        assert sorted(row["id"] for row in rows) == sorted(f"g{number}" for number in range(GOALS))
        assert {row["id"]: row["answer"] for row in rows} == {
            f"g{number}": f"did second of Goal number {number}" for number in range(GOALS)
        }
        twice = """SELECT run, body::json ->> 'request' FROM events WHERE type = 'call_finished'
                   GROUP BY 1, 2 HAVING count(*) > 1"""
        assert self.ask(twice) == []
        assert self.ask("SELECT run_id FROM runs WHERE holder IS NOT NULL") == []


@pytest.fixture
def batch(tmp_path: Path, cluster: RayCluster, server: OpenAIServer, postgres: PostgresServer) -> RayBatch:
    return RayBatch(tmp_path / "work", cluster, server, postgres.new_url())


def slowly(call: Call) -> Answer:
    answer = answering(call)
    assert isinstance(answer, Say)
    return Say(answer.text, after=0.3)


def costly(call: Call) -> Answer:
    answer = answering(call)
    assert isinstance(answer, Say)
    return Say(answer.text, after=0.1, tokens=(1_450, 50))


def requests(journal: str) -> set[str]:
    """The hashes of all requests on record."""
    store = open_store(journal, create=False)
    try:
        return {row.body["request"] for row in store.rows_of_all(["call_finished"])}
    finally:
        store.close()


def without_run(row: dict[str, Any]) -> dict[str, Any]:
    tasks = [{**task, "seconds": 0, "attempts": 1} for task in row["tasks"]]  # one that was killed has two
    return {**row, "tasks": tasks, "run_id": "", "journal": "", "seconds": 0}


def test_a_killed_worker_costs_only_calls_in_flight_and_results_are_those_of_a_plain_batch(
    batch: RayBatch, weft: Callable[..., Ran]
) -> None:
    batch.answer(slowly)
    skill = batch.folder / ".agents" / "skills" / "counting-goals" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: counting-goals\ndescription: Counts goals by number.\n---\nCount.\n", encoding="utf-8")
    process = batch.start("--workers", "2", "--json")
    batch.wait_for_calls(GOALS, process)
    (limiter,) = batch.cluster.workers("Limiter")
    os.kill(limiter, signal.SIGKILL)  # without a rate, another one is closed for a second
    killed = batch.cluster.workers()[0]
    os.kill(killed, signal.SIGKILL)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert f"process {killed}) is lost; its goals continue on other workers" in err
    assert json.loads(out)["done"] == GOALS, "and nothing else is on standard output"
    batch.check()
    assert 0 < batch.repeated() <= 8, "no more than the killed worker had under way"
    node = batch.cluster.home / ".cache" / "weft" / "bundles"
    assert len(list(node.glob(f"*/workspace/{skill.relative_to(batch.folder)}"))) == 1, "once a node"
    assert all("counting-goals" in call.system for call in batch.server.calls if call.role == "decomposer")
    replayed = weft("replay", batch.rows()[0]["run_id"], "--strict", env={"WEFT_JOURNAL": batch.url}, cwd=batch.folder)
    assert replayed.status == 0, replayed.err
    env = {"OPENAI_API_BASE": batch.server.base, "OPENAI_API_KEY": "sk-test"}
    plain = weft("batch", "goals.jsonl", "-o", "plain.jsonl", "--model", "openai/test-model", env=env, cwd=batch.folder)
    assert plain.status == 0, plain.err
    here = f"sqlite:///{batch.folder}/.agents/journal.sqlite"
    assert len(requests(here)) == 3 * GOALS
    assert requests(batch.url) == requests(here), "whatever the paths are where the worker runs"
    rows = [json.loads(line) for line in (batch.folder / "plain.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["id"]: without_run(row) for row in batch.rows()} == {row["id"]: without_run(row) for row in rows}


@pytest.mark.long
def test_one_limiter_and_one_budget_serve_all_workers(batch: RayBatch) -> None:
    status, said = batch.run("--workers", "2", "--rpm", "900", "--limit", "20")
    assert status == 0, said
    times = sorted(call.at for call in batch.server.calls)
    assert len(times) == 60
    most = max(sum(1 for at in times if start <= at < start + 2) for start in times)
    assert most <= 900 / 60 * 2.5 + 2, "each call has a place of its own, and may be half a second late"
    batch.out.unlink()
    batch.answer(costly)
    status, said = batch.run("--workers", "2", "--max-tokens", "60000", "--json")
    assert (status, "Actor with class name" in said) == (5, False), said
    made = len(batch.server.calls) - 60
    assert 30_000 < 1_500 * made <= 60_000, said


@pytest.mark.long
def test_a_goal_that_kills_its_workers_fails_alone(batch: RayBatch) -> None:
    def poisonous(call: Call) -> Answer:
        if "Goal number 7\n" in call.user + "\n" and call.role == "task":
            ((holder,),) = batch.ask("SELECT holder FROM runs WHERE goal = %s", "Goal number 7")
            os.kill(json.loads(holder)["pid"], signal.SIGKILL)
        return answering(call)

    batch.answer(poisonous)
    status, said = batch.run("--workers", "1")
    assert status == 1, said
    failed = {row["id"]: (row["status"], row["error_code"]) for row in batch.rows() if row["status"] != "done"}
    assert failed == {"g7": ("failed", "WORKER_LOST")}
    assert len(batch.rows()) == GOALS


def test_a_drained_batch_and_one_whose_driver_was_killed_are_resumed(batch: RayBatch) -> None:
    batch.answer(slowly)
    process = batch.start("--workers", "1", "--drain", "0.2")
    batch.wait_for_calls(GOALS, process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "--resume" in err
    assert batch.ask("SELECT run_id FROM runs WHERE holder IS NOT NULL") == [], "its leases are released"
    done = len(batch.rows())
    process = batch.start("--workers", "1", "--resume")
    batch.wait_for_calls(2 * GOALS, process)
    process.kill()
    process.communicate(timeout=30)
    status, said = batch.run("--workers", "1", "--resume")
    assert status == 0, said
    batch.check()
    assert done < GOALS
    assert batch.repeated() <= 2 * 8, "those under way when it was stopped, and when the driver was killed"


@pytest.mark.long
def test_a_node_of_another_version_is_named_and_not_used(batch: RayBatch, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for package in ("weft", "executor", "planner", "skills", "seed"):
        shutil.copytree(ROOT / package, other / package, ignore=shutil.ignore_patterns("__pycache__"))
    (other / "weft" / "version.py").write_text('"""."""\n\n__version__ = "9.9.9"\n', encoding="utf-8")
    node = batch.cluster.add_node(2, {"PYTHONPATH": str(other)})
    try:
        status, said = batch.run("--workers", "3", "--limit", "4")
    finally:
        node.terminate()
        node.wait(30)
    assert status == 0, said
    assert f"it has weft 9.9.9, and this is {__version__}; install the same version there" in said
    assert [row["status"] for row in batch.rows()] == ["done"] * 4


@pytest.mark.long
def test_whether_a_cluster_is_open_is_tried_out(cluster: RayCluster) -> None:
    env = {**os.environ, **cluster.env}
    assert not answers_without_token(cluster.address, env)
    with RayCluster(1, token=False) as unprotected:
        assert answers_without_token(unprotected.address, env), "although this side has a token"


def test_without_an_address_ray_starts_here_and_imports_nothing_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "goals.txt").write_text("Goal number 1\nGoal number 2\n", encoding="utf-8")
    for name in ("litellm", "executor", "ray"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w')", encoding="utf-8")
    command = [sys.executable, "-m", "weft", "batch", "goals.txt", "-o", "out.jsonl", "--model", "openai/test-model"]
    with OpenAIServer(answering) as server:
        env = {**os.environ, "OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test"}
        command += ["--engine", "ray", "--workers", "1", "--json"]
        ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert (ran.returncode, json.loads(ran.stdout)["done"]) == (0, 2), ran.stderr
    assert not (tmp_path / "imported").exists()
    assert (tmp_path / ".agents" / "journal.sqlite").exists()
