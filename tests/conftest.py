"""Fixtures and hooks for all tests."""

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

# No deadline, because test machines are shared and noisy. Every run draws other examples, so fifty are enough.
settings.register_profile("goalwright", deadline=None, max_examples=50)
settings.register_profile("fast", deadline=None, max_examples=12)  # for `scripts/check --fast`
settings.load_profile("goalwright")

SHARED_NURSERY = "TESTS_NURSERY"
SHARED_POSTGRES = "TESTS_POSTGRES_FOLDER"
FAST = "TESTS_FAST"  # set by `scripts/check --fast`
HOMES, PLACES = itertools.count(), itertools.count()
NO_NAME = re.compile(r"\W")
ROOT = Path(__file__).parent.parent
# Tests of whole runs, servers and processes are marked slow, except those in DAILY.
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
# Seconds of slow tests that take much more than half a second.
SECONDS = {
    "end_to_end/test_ray_batch.py": 20, "end_to_end/test_mcp_npm.py": 10, "test_packaging.py": 8,
    "skills/manage/test_new_tool.py": 6, "goalwright/models/local/test_server.py": 6, "test_recorded_versions.py": 6,
    "end_to_end/test_soaks.py": 5, BROWSER: 5, "goalwright/interfaces/mcp/test_serve.py": 4,
    "goalwright/models/call_process/": 3,
    "goalwright/test_testing.py": 3, "end_to_end/": 1.5, "skills/programs/": 1.2, "walls/": 1,
}  # fmt: skip
WARM = pytest.StashKey[ExitStack]()


def _without_threads() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(Inline())
    return loop


# One event loop for all replays of a process, because creating one takes as long as a replay.
REPLAYS = asyncio.Runner(loop_factory=_without_threads)


@pytest.fixture(scope="session")
def next_workspace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Return a function that moves a prepared workspace to a path.

    Skills changed just now are indexed by every command; older skills are indexed once.
    """
    spare = tmp_path_factory.mktemp("spare") / "work"
    add_cataloging(spare)

    def put(place: Path) -> None:
        spare.rename(place)
        add_cataloging(spare)

    return put


@pytest.fixture
def workspace(tmp_path: Path, request: pytest.FixtureRequest, next_workspace: Callable[[Path], None]) -> Iterator[Path]:
    """A workspace with the skill `cataloging-apis`. Every run that a test makes in it must replay without drift.

    `scripts/check --fast` skips the replays.
    """
    folder = tmp_path / "work"
    next_workspace(folder)
    yield folder
    if FAST not in os.environ and request.node.get_closest_marker("changes_skills") is None:
        assert {run: drift for run, drift in replayed(folder).items() if drift} == {}


def replayed(workspace: Path) -> dict[str, list[dict[str, str]]]:
    """Return the drift of a strict replay of each run in a workspace's journal."""
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
    """Trust the current settings and templates of a workspace, as `--trust` does."""
    Trust(Paths.of(workspace, os.environ).trust).trust_workspace(workspace)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], OpenAIServer]]:
    """Start a scripted server and point the providers' environment variables to it."""
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
    """A PostgreSQL server, shared by all workers of a session."""
    with ExitStack() as own:
        folder = os.environ.get(SHARED_POSTGRES) or own.enter_context(postgres_folder())
        yield own.enter_context(closing(PostgresServer(Path(folder))))


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder per test like pytest's, but without the symlink to the last one of its name."""
    name = NO_NAME.sub("_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(PLACES)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary home per test, so that no file of the user is read or written."""
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(HOMES))  # `mktemp` scans all existing folders
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name in list(os.environ):
        if name.startswith(("GOALWRIGHT_", "XDG_", "SKILL")) or name.endswith(("_API_KEY", "_API_BASE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GOALWRIGHT_LOCAL_BACKEND", "xllamacpp")  # no downloads except models
    return home


@pytest.hookimpl(tryfirst=True)  # in a hook, because the test's environment is still set and a fixture is slower
def pytest_runtest_teardown() -> None:
    """Wait for an import of litellm that a test started, before the next test changes the environment."""
    for thread in threading.enumerate():
        if thread.name == "load litellm":
            thread.join()


def pytest_configure(config: pytest.Config) -> None:
    """Start the nursery and the database that all workers share."""
    gc.disable()  # until all tests are collected
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        warm = config.stash[WARM] = ExitStack()
        os.environ[SHARED_NURSERY] = warm.enter_context(open_nursery()).address
        os.environ[SHARED_POSTGRES] = warm.enter_context(postgres_folder())
        if not config.getoption("cov_source", None):  # coverage starts in a worker and would miss earlier imports
            worker = warm.enter_context(forked_workers(config.args, config.invocation_params.dir))
            config.option.tx = [worker] * len(config.option.tx)
        config.add_cleanup(warm.close)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """End the warm process with the last test, so that its coverage is counted."""
    ran = yield
    if WARM in session.config.stash:
        session.config.stash[WARM].close()
    return ran


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not import modules that `scripts/check --fast` skips."""
    if FAST not in os.environ:
        return None
    name = _name(str(collection_path.relative_to(ROOT))) + ("/" if collection_path.is_dir() else "")
    daily = any(one.startswith(name) or name.startswith(one.partition("::")[0]) for one in DAILY)
    return True if name.startswith(WHOLE) and not daily else None


@pytest.hookimpl(tryfirst=True)  # before tests are selected by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the longest tests first and share them among the workers, so that no worker ends late.

    Tests of a file stay together, because they share a cluster or a browser. Tests marked `long` run only on request.
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
    """Return one share per worker, each with slow files of about the same total time, then others."""
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
    """Return the estimated seconds of a file's slow tests."""
    name = _name(together[0].nodeid)
    return len(together) * next((seconds for start, seconds in SECONDS.items() if name.startswith(start)), 0.5)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Freeze imported and collected objects, so that garbage collections skip them."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000)  # as for goalwright's own commands


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that this machine cannot run."""
    needs.marked(item)


def _skip_reasons(config: pytest.Config) -> list[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """With CI set, fail if a test was skipped that this machine could have run."""
    REPLAYS.close()
    if os.environ.get("CI") and needs.inexcusable(_skip_reasons(session.config)) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print one line about skipped tests."""
    reasons = _skip_reasons(config)
    if line := needs.summary(reasons):
        terminalreporter.write_line(line)
    for problem in needs.inexcusable(reasons):
        terminalreporter.write_line(problem, red=True)


@pytest.fixture(scope="session", autouse=True)
def forked_calls(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fork the call workers of batches, so that they do not import litellm again."""

    def start(*descriptors: int) -> Process:
        nursery: Nursery = request.getfixturevalue("nursery")
        return nursery.start_worker(*descriptors)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spawn, "private", start)
        yield


@pytest.fixture(scope="session", autouse=True)
def indexed_once() -> Iterator[None]:
    """Build the index of the same skills once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(building, "sections", remembered(building.sections))
        yield


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """The source of forked processes."""
    if shared := os.environ.get(SHARED_NURSERY):
        yield Nursery(shared)
    else:
        with open_nursery() as own:
            yield own


@pytest.fixture
def goalwright(nursery: Nursery) -> Callable[..., Ran]:
    """Run the real command line in a child process."""

    def run(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", cwd: Path | None = None) -> Ran:
        return nursery.run(list(arguments), {**os.environ, **(env or {})}, cwd, stdin)

    return run
