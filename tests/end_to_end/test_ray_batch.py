"""`goalwright batch --engine ray` with real Ray and PostgreSQL loses nothing if workers or the driver die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from goalwright.batch.engines.ray.metrics import COUNTERS, GAUGES
from goalwright.settings.ray_security import answers_without_token
from goalwright.version import __version__
from goalwright_executor.journal.open_store import open_store
from tests.conftest import add_skill
from tests.evaluated import SKILL, TEXT, letters, write_cases
from tests.evaluated import answering as evaluated
from tests.needs import needs_ray_metrics
from tests.openai_server import Answer, Call, OpenAIServer, Say, instruction
from tests.ray_batch import SLOTS, RayBatch, Swapped
from tests.ray_cluster import RayCluster
from tests.soaks.kill_batch import answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.nursery import Nursery, Ran
    from tests.postgres import PostgresServer

pytestmark = pytest.mark.slow

GOALS = 30
ROOT = Path(__file__).parents[2]


def _said(err: str) -> list[str]:
    """What a batch said beside its progress."""
    return [line for line in err.splitlines() if "goals ·" not in line and not line.startswith("Loading: ")]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Swapped()) as server:
        yield server


class Clusters:
    """One cluster for all tests, and the next one once a test has killed its head."""

    def __init__(self, given: Mapping[str, str], nursery: Nursery) -> None:
        self._given, self._nursery = given, nursery
        self._last: RayCluster | None = None

    def running(self) -> RayCluster:
        if self._last is None or not self._last.running:
            self.close()
            self._last = RayCluster(cores=2, given=self._given, nursery=self._nursery)
        return self._last

    def close(self) -> None:
        if self._last is not None:
            self._last.close()


@pytest.fixture(scope="module")
def clusters(server: OpenAIServer, nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    env = {"OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path_factory.mktemp("node"))}
    own = {"GOALWRIGHT_MODEL": "openai/of-the-node", "GOALWRIGHT_SYNTHESIS": "openai/of-the-node"}  # --model beats both
    with closing(Clusters(env | own, nursery)) as clusters:
        yield clusters


@pytest.fixture
def cluster(clusters: Clusters) -> RayCluster:
    return clusters.running()


@pytest.fixture
def batch(
    tmp_path: Path, cluster: RayCluster, server: OpenAIServer, postgres: PostgresServer, nursery: Nursery
) -> Iterator[RayBatch]:
    with closing(RayBatch(tmp_path / "work", cluster, server, postgres.new_url(), GOALS, nursery)) as batch:
        yield batch


@pytest.fixture
def unforked(tmp_path: Path, server: OpenAIServer, postgres: PostgresServer, nursery: Nursery) -> Iterator[RayBatch]:
    """A batch on a cluster of its own, all of whose nodes take as long to start workers."""
    env = {"OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path / "node")}
    (tmp_path / "node").mkdir()
    with (
        RayCluster(2, env) as cluster,
        closing(RayBatch(tmp_path / "work", cluster, server, postgres.new_url(), GOALS, nursery)) as batch,
    ):
        yield batch


def slowly(call: Call) -> Say:
    answer = answering(call)
    assert isinstance(answer, Say)
    return Say(answer.text, after=0.3)


def costly(call: Call) -> Say:
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


POEM = """goal: Write a short poem about the river number {number}
parameters: [{name: number, type: number}]
plan:
  tasks:
  - {id: draft, action_type: llm, instruction: 'Write a short poem about the river number {number}'}
  - {id: check, action_type: llm, instruction: Correct <<draft.output>>., depends_on: [draft]}
"""


def poems(call: Call) -> Say:
    return Say(f"did: {instruction(call)}")


def test_recipes_run_on_workers_that_are_drained_and_killed_and_whose_driver_is_killed(batch: RayBatch) -> None:
    (batch.folder / "recipes").mkdir(exist_ok=True)
    (batch.folder / "recipes" / "poem.yaml").write_text(POEM, encoding="utf-8")
    goals = [f"Write a short poem about the river number {number}" for number in range(1, GOALS + 1)]
    goal_rows: list[dict[str, Any]] = [{"recipe": "poem", "number": number} for number in range(1, GOALS + 1)]
    (batch.folder / "goals.jsonl").write_text("\n".join(map(json.dumps, goal_rows)))

    batch.answer(lambda call: replace(poems(call), after=2.5))
    process = batch.start("--workers", "2", "--drain", "60")
    batch.wait_for_calls(12, process)
    process.send_signal(signal.SIGTERM)
    at = time.monotonic()
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert time.monotonic() - at > 2, "goals had time to end, and Ray did not end the process"
    assert "Stopped (interrupted). Continue with:" in err
    assert err.splitlines()[-1].endswith("--drain 60 --resume")
    assert 0 < len(batch.rows()) < GOALS
    assert batch.repeated() == 0
    batch.check_journal()

    made, ended = len(batch.server.calls), threading.Event()
    batch.answer(lambda call: replace(poems(call), once=ended))
    process = batch.start("--workers", "1", "--resume")
    batch.wait_for_calls(made + SLOTS, process)
    (worker,) = batch.cluster.workers()
    os.kill(worker, signal.SIGKILL)
    batch.wait(process, lambda: batch.repeated() > 0)  # by the worker that was started in its place
    process.kill()
    process.communicate(timeout=120)
    ended.set()
    batch.answer(poems)
    status, said = batch.run("--workers", "1", "--resume")
    assert status == 0, said
    batch.check_journal()
    rows = batch.rows()
    assert sorted(row["goal"] for row in rows if row["status"] == "done") == sorted(goals), "each once"
    assert {row["recipe"] for row in rows} == {"poem"}
    assert batch.server.asked("decomposer") == []
    for row in rows:
        assert row["tasks"][0]["output"] == f"did: {row['goal']}", "every goal has its own words in the plan"
    assert batch.repeated() <= 2 * SLOTS, "those under way when the worker was killed, and when the driver was"


def test_a_killed_worker_costs_only_calls_in_flight_and_results_are_those_of_a_plain_batch(
    batch: RayBatch, goalwright: Callable[..., Ran]
) -> None:
    batch.answer(slowly)
    skill = batch.folder / ".agents" / "skills" / "tallying" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tallying\ndescription: Adds up votes.\n---\nCount.\n", encoding="utf-8")
    process = batch.start("--workers", "2", "--json")
    batch.wait_for_calls(GOALS, process)
    held, lost = list[Call](), threading.Event()

    def holding(call: Call) -> Say:
        held.append(call)
        return replace(slowly(call), once=lost)

    batch.answer(holding)
    batch.wait(process, lambda: len(held) == 2 * SLOTS)  # then both workers have all the calls that they can have
    (limiter,) = batch.cluster.workers("Limiter")
    os.kill(limiter, signal.SIGKILL)  # without a rate, another one is closed for a second
    killed = batch.cluster.workers()[0]
    os.kill(killed, signal.SIGKILL)
    lost.set()
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert f"process {killed}) is lost; its goals continue on other workers" in err
    assert json.loads(out)["done"] == GOALS, "and nothing else is on standard output"
    batch.check()
    assert {row["model"] for row in batch.rows()} == {"openai/test-model"}
    assert 0 < batch.repeated() <= SLOTS, "no more than the killed worker had under way"
    node = batch.cluster.home / ".cache" / "goalwright" / "bundles"
    assert len(list(node.glob(f"*/workspace/{skill.relative_to(batch.folder)}"))) == 1, "once a node"
    assert all("tallying" in call.system for call in batch.server.calls if call.role == "decomposer")
    replayed = goalwright(
        "replay", batch.rows()[0]["run_id"], "--strict", env={"GOALWRIGHT_JOURNAL": batch.url}, cwd=batch.folder
    )
    assert replayed.status == 0, replayed.err
    plain_batch = ["batch", "goals.jsonl", "-o", "plain.jsonl", "--model", "openai/test-model"]
    plain = goalwright(*plain_batch, env=batch.provider, cwd=batch.folder)
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


@pytest.mark.long
def test_max_cost_holds_for_all_workers_while_one_dies_and_resuming_pays_for_the_rest(batch: RayBatch) -> None:
    limit, price = 0.15, 1_450 * 0.15e-6 + 5_000 * 0.6e-6  # of gpt-4o-mini, which litellm knows
    batch.answer(lambda call: replace(costly(call), tokens=(1_450, 5_000)))
    process = batch.start("--workers", "2", "--model", "openai/gpt-4o-mini", "--max-cost", str(limit))
    batch.wait_for_calls(10, process)
    os.kill(batch.cluster.workers()[0], signal.SIGKILL)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 5, err  # the budget is spent
    made = len(batch.server.calls)
    assert limit / 4 < made * price <= limit, "what a dead worker had been allotted counts as spent"
    status, said = batch.run("--workers", "2", "--model", "openai/gpt-4o-mini", "--max-cost", "1", "--resume")
    assert status == 0, said
    batch.check()
    ((paid,),) = batch.ask(
        "SELECT sum((body::json -> 'reply' ->> 'cost')::float8) FROM events WHERE type = 'call_finished'"
    )
    assert paid == pytest.approx(3 * GOALS * price)
    assert batch.repeated() <= 8, "no more than the killed worker had under way"


def path_of(copy: Path) -> str:
    return ":".join(str(copy / root) for root in ("", "planner", "executor", "skills"))


def copy_of_goalwright(folder: Path) -> Path:
    for package in ("goalwright", "executor", "planner", "skills", "seed"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.long
def test_nodes_of_another_version_bundle_or_skills_are_named_and_not_used(unforked: RayBatch, tmp_path: Path) -> None:
    batch = unforked  # or all goals are done before the other nodes have said who they are
    status, said = batch.run("--workers", "1", "--limit", "1")
    assert status == 0, said
    older, changed, home = (
        copy_of_goalwright(tmp_path / "older"),
        copy_of_goalwright(tmp_path / "changed"),
        tmp_path / "home",
    )
    (older / "goalwright" / "version.py").write_text('"""."""\n\n__version__ = "9.9.9"\n', encoding="utf-8")
    (skill, *_) = sorted((changed / "skills" / "goalwright_skills" / "library").glob("*/SKILL.md"))
    skill.write_text(skill.read_text(encoding="utf-8") + "\nAnd more.\n", encoding="utf-8")
    shutil.copytree(batch.cluster.home / ".cache", home / ".cache")
    for bundle in (home / ".cache" / "goalwright" / "bundles").iterdir():
        (bundle / "workspace").chmod(0o700)
        (bundle / "workspace" / "added.md").write_text("by someone else", encoding="utf-8")
    given = ({"PYTHONPATH": path_of(older)}, {"PYTHONPATH": path_of(changed)}, {"HOME": str(home)})
    nodes = [batch.cluster.add_node(1, env) for env in given]
    try:
        status, said = batch.run("--workers", "5", "--limit", "4", "--resume")
    finally:
        for node in nodes:
            node.terminate()
            node.wait(30)
    assert status == 0, said
    assert f"it has goalwright 9.9.9, but this is {__version__}; install the same version there" in said
    assert "has changed since it was unpacked; delete it; it will be unpacked again" in said
    assert skill.parent.name in said
    assert len({line for line in said.splitlines() if "is not used: " in line}) == 3
    assert [row["status"] for row in batch.rows()] == ["done"] * 4


@pytest.mark.long
def test_a_batch_whose_goals_are_done_while_rays_head_hangs_comes_to_its_end(
    server: OpenAIServer, tmp_path: Path, postgres: PostgresServer, nursery: Nursery
) -> None:
    env = {"OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path)}
    with (
        RayCluster(1, env) as cluster,
        closing(RayBatch(tmp_path / "work", cluster, server, postgres.new_url(), 8, nursery)) as batch,
    ):
        batch.answer(lambda call: replace(slowly(call), after=2.0))
        process = batch.start()
        batch.wait_for_calls(8, process)
        cluster.hang_head()
        _, err = process.communicate(timeout=120)
        cluster.kill_head()
    assert process.returncode == 0, err
    assert [row["status"] for row in batch.rows()] == ["done"] * 8


@pytest.mark.long
@needs_ray_metrics
def test_the_figures_of_a_batch_are_on_rays_prometheus_port(
    server: OpenAIServer, tmp_path: Path, postgres: PostgresServer, nursery: Nursery
) -> None:
    env = {"OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test", "HOME": str(tmp_path)}
    with (
        RayCluster(1, env | {"RAY_metrics_report_interval_ms": "1000"}, metrics=True) as cluster,
        closing(RayBatch(tmp_path / "work", cluster, server, postgres.new_url(), GOALS, nursery)) as batch,
    ):
        batch.answer(slowly)
        process = batch.start("--max-calls", "2")
        names = {f"ray_{name}" for name in (*COUNTERS, *GAUGES)} - {
            "ray_goalwright_calls_refused",
            "ray_goalwright_leases_lost",
        }

        def figures() -> set[str]:
            with suppress(OSError), urlopen(f"http://127.0.0.1:{cluster.metrics_port}/metrics", timeout=5) as answer:
                lines = answer.read().decode().splitlines()
                return {
                    line.partition("{")[0].removesuffix("_total")
                    for line in lines
                    if line.startswith("ray_goalwright_")
                }
            return set()

        batch.wait(process, lambda: names - {"ray_goalwright_cost_usd"} <= figures())
        _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err


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
    command = [
        sys.executable,
        "-m",
        "goalwright",
        "batch",
        "goals.txt",
        "-o",
        "out.jsonl",
        "--model",
        "openai/test-model",
    ]
    with OpenAIServer(answering) as server:
        env = {**os.environ, "OPENAI_API_BASE": server.base, "OPENAI_API_KEY": "sk-test"}
        command += ["--engine", "ray", "--workers", "1", "--json"]
        ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert (ran.returncode, json.loads(ran.stdout)["done"]) == (0, 2), ran.stderr
    assert not (tmp_path / "imported").exists()
    assert (tmp_path / ".agents" / "journal.sqlite").exists()


def test_variants_of_an_evaluation_run_on_the_cluster_and_a_resume_without_it_pays_for_nothing(
    batch: RayBatch, nursery: Nursery
) -> None:
    def with_skill(goal: str, system: str) -> str:
        return f"Dear customer, about: {goal}" if "Polite letters" in system else f"About: {goal}"

    add_skill(batch.folder, SKILL, TEXT)
    write_cases(batch.folder / "cases.jsonl", *letters(4))
    batch.answer(evaluated(with_skill))
    given = ["cases.jsonl", "--variant", f"without=--without {SKILL}", "--variant", f"with=--skill {SKILL}"]
    given += ["--repeat", "1", "--json", "--model", "openai/test-model", "--resume"]
    cluster = ["--engine", "ray", "--address", batch.cluster.address, "--workers", "1"]
    for where in (cluster, []):
        ran = nursery.run(["eval", *given, *where], batch.env | batch.provider, batch.folder)
        assert ran.status == 0, ran.err
        found = json.loads(ran.out)
        assert [variant["pass_rate"] for variant in found["variants"]] == [0.0, 1.0]
        assert (found["differences"][0]["verdict"], len(found["rows"])) == ("helps", 8)
        assert len(batch.server.calls) == 16


@pytest.mark.parametrize(
    ("lose_head", "seconds"),
    [(RayCluster.kill_head, 2.0), pytest.param(RayCluster.hang_head, 15.0, marks=pytest.mark.long)],
)
def test_without_rays_head_the_batch_says_so_once_and_how_to_resume(
    batch: RayBatch, clusters: Clusters, lose_head: Callable[[RayCluster], None], seconds: float
) -> None:
    batch.answer(lambda call: replace(slowly(call), after=seconds))
    process = batch.start("--workers", "1")
    batch.wait_for_calls(10, process)
    lose_head(batch.cluster)
    _, err = process.communicate(timeout=240)
    batch.cluster.kill_head()
    assert process.returncode == 130, err
    said = _said(err)
    assert said[0] == "warning: Ray's head is lost: the batch stops; what is finished is kept"
    assert said[1] == "Stopped (interrupted). Continue with:"
    assert said[2].endswith("--resume")
    assert len(said) == 3, said
    batch.cluster = clusters.running()
    batch.answer(answering)
    status, said_then = batch.run("--workers", "1", "--resume")
    assert status == 0, said_then
    batch.check()
    assert {row["model"] for row in batch.rows()} == {"openai/test-model"}
