"""Fixtures that several folders share."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import re
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from goalwright.models.call_process import spawn
from goalwright.settings.paths import Paths
from goalwright_skills.programs.trust import Trust
from goalwright_skills.selection.index import building
from tests import needs
from tests.forked_workers import forked_workers
from tests.indexed_once import CATALOGING as CATALOGING
from tests.indexed_once import add_cataloging, remembered
from tests.nursery import Nursery, Process, Ran, open_nursery
from tests.openai_server import OpenAIServer, Script
from tests.postgres import PostgresServer, postgres_folder
from tests.virtual_time import Inline

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

# The machines that tests run on are shared and noisy. Every run draws other examples: fifty are enough for one of them.
settings.register_profile("goalwright", deadline=None, max_examples=50)
settings.register_profile("fast", deadline=None, max_examples=12)  # for `scripts/check --fast`
settings.load_profile("goalwright")

SHARED_NURSERY = "TESTS_NURSERY"
SHARED_POSTGRES = "TESTS_POSTGRES_FOLDER"
FAST = "TESTS_FAST"  # set by `scripts/check --fast`
HOMES, PLACES = itertools.count(), itertools.count()
NO_NAME = re.compile(r"\W")
ROOT = Path(__file__).parent.parent
# Tests of whole runs, of servers and of processes are slow, whatever each takes; of these, some are for every day.
WHOLE = (
    *("docs/", "end_to_end/", "walls/", "executor/stores/postgres/"),
    *("skills/builtin/code/", "skills/builtin/writing/test_large_files.py", "skills/confinement/"),
    *("skills/manage/test_git_source.py", "skills/manage/test_update.py", "skills/mcp/", "skills/programs/"),
    *(
        "test_deploy.py",
        "test_recorded_versions.py",
        "goalwright/interfaces/acp/",
        "goalwright/batch/",
        "goalwright/interfaces/cli/test_chat.py",
    ),
    *(
        "goalwright/interfaces/cli/test_mcp.py",
        "goalwright/interfaces/cli/view/live/test_run_frame.py",
        "goalwright/interfaces/doctor/test_checks.py",
    ),
    *(
        "goalwright/evaluation/test_hostile_cases.py",
        "goalwright/models/local/",
        "goalwright/interfaces/mcp/",
        "goalwright/models/litellm/",
    ),
    *(
        "goalwright/runs/",
        "goalwright/telemetry/",
        "goalwright/test_testing.py",
        "goalwright/traces/",
        "goalwright/interfaces/web/",
    ),
)
DAILY = ("end_to_end/test_run_command.py::test_json", "skills/programs/builds/", "goalwright/runs/test_run.")
BROWSER = "goalwright/interfaces/web/static/"
# What a slow test takes here, in seconds, where it is much more than half of one.
SECONDS = {
    "end_to_end/test_ray_batch.py": 20, "end_to_end/test_mcp_npm.py": 10, "test_packaging.py": 8,
    "skills/manage/test_new_tool.py": 6, "goalwright/models/local/test_server.py": 6, "test_recorded_versions.py": 6,
    "end_to_end/test_soaks.py": 5, BROWSER: 5, "goalwright/interfaces/mcp/test_serve.py": 4, "goalwright/models/call_process/": 3,
    "goalwright/test_testing.py": 3, "end_to_end/": 1.5, "skills/programs/": 1.2, "walls/": 1,
}  # fmt: skip
WARM = pytest.StashKey[ExitStack]()


def _without_threads() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(Inline())
    return loop


# One loop for the replays of a process: to make and to end one, with its threads, takes as long as a replay.
REPLAYS = asyncio.Runner(loop_factory=_without_threads)


@pytest.fixture(scope="session")
def next_workspace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Puts a workspace in a place; it was made for the test before.

    Skills are indexed for each command while they were changed this very moment, and once if they are older.
    """
    spare = tmp_path_factory.mktemp("spare") / "work"
    add_cataloging(spare)

    def put(place: Path) -> None:
        spare.rename(place)
        add_cataloging(spare)

    return put


@pytest.fixture
def workspace(tmp_path: Path, request: pytest.FixtureRequest, next_workspace: Callable[[Path], None]) -> Iterator[Path]:
    """A workspace with the skill `cataloging-apis`; every run that a test makes in it must replay, as a file has it.

    The fast lane leaves the replays to the whole run.
    """
    folder = tmp_path / "work"
    next_workspace(folder)
    yield folder
    if FAST not in os.environ and request.node.get_closest_marker("changes_skills") is None:
        assert {run: drift for run, drift in replayed(folder).items() if drift} == {}


def replayed(workspace: Path) -> dict[str, list[dict[str, str]]]:
    """What differs in a strict replay of each run that a workspace's journal holds."""
    from goalwright.runs.stored import records
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright.traces.strict_replay import strict
    from goalwright_executor.journal import trace_file

    if not (workspace / ".agents" / "journal.sqlite").is_file():
        return {}
    paths, settings = Paths.of(workspace, os.environ), Settings()
    store = records.recorded_runs(paths, settings)

    def drift(run: str) -> list[dict[str, str]]:
        exported = [trace_file.parse(line, run) for line in trace_file.lines(store.rows(run))]
        return [one.to_dict() for one in REPLAYS.run(strict(exported, paths, settings)).drift]

    try:
        return {run.run_id: drift(run.run_id) for run in store.summaries()}
    finally:
        store.close()


def add_skill(workspace: Path, name: str, text: str) -> Path:
    """Put a SKILL.md into a workspace."""
    folder = workspace / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def trust(workspace: Path) -> None:
    """Trust a workspace's settings and templates as they are now, as `--trust` does."""
    Trust(Paths.of(workspace, os.environ).trust).trust_workspace(workspace)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], OpenAIServer]]:
    """Start a scripted server; litellm finds it through the providers' own variables."""
    running: list[OpenAIServer] = []

    def start(script: Script) -> OpenAIServer:
        server = OpenAIServer(script).__enter__()
        running.append(server)
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
        return server

    yield start
    for server in running:
        server.__exit__()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, one for all workers of a session."""
    with ExitStack() as own:
        folder = os.environ.get(SHARED_POSTGRES) or own.enter_context(postgres_folder())
        yield own.enter_context(closing(PostgresServer(Path(folder))))


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder of its own for each test, as pytest's, but without a link to the last one of its name."""
    name = NO_NAME.sub("_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(PLACES)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test, so that nothing of the user's is read or written."""
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(HOMES))  # `mktemp` looks through all that there are
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name in list(os.environ):
        if name.startswith(("GOALWRIGHT_", "XDG_", "SKILL")) or name.endswith(("_API_KEY", "_API_BASE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GOALWRIGHT_LOCAL_BACKEND", "xllamacpp")  # nothing is fetched from the internet beside a model
    return home


@pytest.hookimpl(tryfirst=True)  # while the test's environment is still there; a fixture takes longer, for each test
def pytest_runtest_teardown() -> None:
    """Let litellm be imported to its end in a test that began to: the next test changes the environment under it."""
    for thread in threading.enumerate():
        if thread.name == "load litellm":
            thread.join()


def pytest_configure(config: pytest.Config) -> None:
    """What all workers share: the process that others come from, warm once tests are collected, and a database."""
    gc.disable()  # until all tests are collected
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        warm = config.stash[WARM] = ExitStack()
        os.environ[SHARED_NURSERY] = warm.enter_context(open_nursery()).address
        os.environ[SHARED_POSTGRES] = warm.enter_context(postgres_folder())
        if not config.getoption("cov_source", None):  # coverage begins in a worker, after what was imported before
            worker = warm.enter_context(forked_workers(config.args, config.invocation_params.dir))
            config.option.tx = [worker] * len(config.option.tx)
        config.add_cleanup(warm.close)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """End the warm process with the last test, so that the lines it covered are counted with the others."""
    ran = yield
    if WARM in session.config.stash:
        session.config.stash[WARM].close()
    return ran


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """The fast lane does not import what it would leave out."""
    if FAST not in os.environ:
        return None
    name = _name(str(collection_path.relative_to(ROOT))) + ("/" if collection_path.is_dir() else "")
    daily = any(one.startswith(name) or name.startswith(one.partition("::")[0]) for one in DAILY)
    return True if name.startswith(WHOLE) and not daily else None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest tests first, a part of them for each worker, so that no worker waits for one at the end.

    Those of a file stay together: they share a cluster or a browser. Long ones are left out unless they are asked for.
    """
    for item in items:
        name = _name(item.nodeid)
        if name.startswith(WHOLE) and not name.startswith(DAILY):
            item.add_marker(pytest.mark.slow)
    long = [item for item in items if item.get_closest_marker("long")]
    if long and "long" not in config.getoption("markexpr", ""):
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    items[:] = in_shares(items, getattr(config, "workerinput", {}).get("workercount", 1))


def _name(path: str) -> str:
    return path.removeprefix("tests/")


def in_shares(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """As many parts as there are workers, each with files of slow tests that take about as long, then with others."""
    files: dict[str, list[pytest.Item]] = {}
    rest: list[pytest.Item] = []
    for item in items:
        slow = item.get_closest_marker("slow") or item.get_closest_marker("local_model")
        file = item.nodeid.partition("::")[0]
        (files.setdefault(BROWSER if _name(file).startswith(BROWSER) else file, []) if slow else rest).append(item)
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    taken = [0.0] * workers
    for file in sorted(files, key=lambda file: _seconds(files[file]), reverse=True):
        lightest = taken.index(min(taken))
        taken[lightest] += _seconds(files[file])
        shares[lightest] += files[file]
    for left in range(workers, 0, -1):
        share = shares[workers - left]
        missing = max(0, (len(rest) + sum(map(len, shares[workers - left :]))) // left - len(share))
        share += rest[:missing]
        del rest[:missing]
    return [*itertools.chain.from_iterable(shares), *rest]


def _seconds(together: list[pytest.Item]) -> float:
    """About how long the slow tests of a file take."""
    name = _name(together[0].nodeid)
    return len(together) * next((seconds for start, seconds in SECONDS.items() if name.startswith(start)), 0.5)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of garbage collections: none of it is ever garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000)  # as for goalwright's own commands


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine cannot run."""
    needs.marked(item)


def _skip_reasons(config: pytest.Config) -> list[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """With CI=1, fail where a test was skipped that this machine could have run."""
    REPLAYS.close()
    if os.environ.get("CI") and needs.inexcusable(_skip_reasons(session.config)) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """One line about all skipped tests."""
    reasons = _skip_reasons(config)
    if line := needs.summary(reasons):
        terminalreporter.write_line(line)
    for problem in needs.inexcusable(reasons):
        terminalreporter.write_line(problem, red=True)


@pytest.fixture(scope="session", autouse=True)
def forked_calls(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fork the processes that make the calls of a batch, which need not import litellm then."""

    def start(*descriptors: int) -> Process:
        nursery: Nursery = request.getfixturevalue("nursery")
        return nursery.start_worker(*descriptors)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spawn, "private", start)
        yield


@pytest.fixture(scope="session", autouse=True)
def indexed_once() -> Iterator[None]:
    """Make the index of the same skills once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(building, "sections", remembered(building.sections))
        yield


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where processes come from that are not tested for how they start."""
    if shared := os.environ.get(SHARED_NURSERY):
        yield Nursery(shared)
    else:
        with open_nursery() as own:
            yield own


@pytest.fixture
def goalwright(nursery: Nursery) -> Callable[..., Ran]:
    """The real command line, in a process of its own."""

    def run(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", cwd: Path | None = None) -> Ran:
        return nursery.run(list(arguments), {**os.environ, **(env or {})}, cwd, stdin)

    return run
