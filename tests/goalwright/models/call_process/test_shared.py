"""The shared call process: one per user and installation, without keys, and optional for a run."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.models.call_process import connection, socket_folder, spawn
from goalwright.models.call_process.connection import ProcessLost
from goalwright.models.call_process.shared import SharedModel, SharedProcess, is_wanted
from goalwright.models.call_process.socket_folder import SocketFolder, UnsafeFolder
from goalwright.settings.settings import Settings
from goalwright_planner.errors import RateLimited
from goalwright_planner.model import Message, Reply, Request, ToolSpec
from tests.openai_server import Call, Fail, OpenAIServer, Say, scripted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.nursery import Nursery
    from tests.openai_server import Answer, Script

MODEL = "openai/test-model"
PROVIDER = (MODEL,)


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """A cache folder with a short path, since a socket's has few characters, and one process for all tests."""
    with tempfile.TemporaryDirectory(prefix="goalwright-") as folder:
        cache = Path(folder) / "goalwright"
        cache.mkdir()
        yield cache
        end_process(cache)


@pytest.fixture
async def process(cache: Path, serve: Callable[[Script], OpenAIServer]) -> AsyncIterator[SharedProcess]:
    serve(echo)
    shared = SharedProcess(Settings(), cache)
    assert shared.start()
    yield shared
    if shared.connected:
        (await shared.connection()).close()


def end_process(cache: Path) -> None:
    pid = SocketFolder.of(cache).served_by()
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


def echo(call: Call) -> Answer:
    if call.user == "too much":
        return Fail(429, "slow down", {"Retry-After": "7"})
    if call.user == "use a tool":
        return Say(tool_calls=(("look_up", {"word": "x"}),))
    return Say(f"you said {call.user}", after=600.0 if call.user == "wait" else 0.0)


def asking(text: str) -> Request:
    return Request((Message("user", text),), tools=(ToolSpec("look_up", "Looks up.", {"type": "object"}),))


class Own:
    """The model as the run itself would call it."""

    name = MODEL

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request.messages[-1].content)
        return Reply("from the run itself")


@pytest.mark.slow
def test_a_second_run_at_a_terminal_does_not_load_litellm(
    cache: Path, serve: Callable[[Script], OpenAIServer], workspace: Path
) -> None:
    server = serve(scripted({"tasks": [{"id": "a", "action_type": "llm", "instruction": "Say hi", "depends_on": []}]}))
    program = (
        "import sys; from goalwright.interfaces.cli.main import main\n"
        "try: main(['run', '--model', 'openai/test-model', 'Say hi'])\n"
        "finally: print('LITELLM' if 'litellm' in sys.modules else 'LEAN', flush=True)"
    )
    # Without what says that litellm is to be loaded by the run itself; a test before may have loaded it here.
    own = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("LITELLM_")}
    env = {**own, "XDG_CACHE_HOME": str(cache.parent), "TERM": "xterm"}
    for _ in range(2):
        master, slave = pty.openpty()
        ran = subprocess.run(
            [sys.executable, "-c", program], stdin=slave, stderr=slave, stdout=subprocess.PIPE, env=env, cwd=workspace,
            check=False, timeout=120,
        )  # fmt: skip
        os.close(slave)
        os.close(master)
        assert b"LEAN" in ran.stdout, ran.stdout
    assert len(server.asked("task")) == 2
    assert SocketFolder.of(cache).served_by() is not None


@pytest.mark.slow
async def test_calls_streams_and_errors_reach_their_callers(process: SharedProcess) -> None:
    own, pieces = Own(), list[str]()
    model = SharedModel(MODEL, process, own)
    assert model.needs == "litellm"
    await model.load()
    assert model.needs == ""
    replies = await asyncio.gather(*(model.complete(asking(f"word {number}")) for number in range(20)))
    assert [reply.text for reply in replies] == [f"you said word {number}" for number in range(20)]
    assert replies[0].usage.prompt_tokens == 10
    streamed = await model.complete(replace(asking("hello"), on_text=pieces.append))
    assert "".join(pieces) == streamed.text == "you said hello"
    called = await model.complete(asking("use a tool"))
    assert [(call.name, call.arguments) for call in called.tool_calls] == [("look_up", '{"word": "x"}')]
    with pytest.raises(RateLimited) as refused:
        await model.complete(asking("too much"))
    assert refused.value.retry_after == 7
    assert own.asked == []


@pytest.mark.slow
async def test_shared_process_starts_without_keys_and_in_the_root_folder(
    process: SharedProcess, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN_API_KEY", "sk-never-0123456789")
    await SharedModel(MODEL, process, Own()).complete(asking("hello"))
    folder = SocketFolder.of(cache)
    pid = folder.served_by()
    assert pid is not None
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"sk-" not in environ
    assert b"API" not in environ
    assert os.readlink(f"/proc/{pid}/cwd") == "/"  # noqa: PTH115
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes()
    assert b"sk-" not in arguments
    assert folder.address.stat().st_mode & 0o777 == 0o600
    assert folder.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_run_takes_over_calls_of_a_lost_process(
    process: SharedProcess, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE", 3)
    own = Own()
    model = SharedModel(MODEL, process, own)
    await model.load()
    fork = (await process.connection()).pid
    call = asyncio.create_task(model.complete(asking("wait")))
    await asyncio.sleep(0.3)
    os.kill(fork, how)
    assert (await call).text == "from the run itself"
    assert own.asked == ["wait"]
    assert (await model.complete(asking("again"))).text == "from the run itself"
    for _ in range(1_200):
        if not _is_running(fork):
            break
        await asyncio.sleep(0.05)
    assert not _is_running(fork), "or its call would go on beside the run's own"


@pytest.mark.slow
async def test_cancelled_call_is_cancelled_in_the_worker(process: SharedProcess) -> None:
    model = SharedModel(MODEL, process, Own())
    await model.load()
    call = asyncio.create_task(model.complete(asking("wait")))
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await model.complete(asking("next"))).text == "you said next"


@pytest.mark.slow
async def test_a_second_shared_process_ends_at_once(process: SharedProcess, cache: Path) -> None:
    await SharedModel(MODEL, process, Own()).load()
    first = SocketFolder.of(cache).served_by()
    second = spawn.shared(cache, 60)
    assert (await asyncio.to_thread(os.waitpid, second, 0))[1] == 0
    assert SocketFolder.of(cache).served_by() == first


@pytest.mark.slow
async def test_killed_server_is_replaced(
    serve: Callable[[Script], OpenAIServer], nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(echo)
    with ExitStack() as running:
        cache = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="goalwright-")))

        def forked(cache: Path, idle: float) -> int:
            command = ["-P", *spawn.program("serve_shared", sys.path, str(cache), str(idle))]
            return running.enter_context(nursery.start(command, stdin=subprocess.DEVNULL, start_new_session=True)).pid

        monkeypatch.setattr(spawn, "shared", forked)
        process, following = (SharedProcess(Settings(), cache) for _ in range(2))
        assert process.start()
        model = SharedModel(MODEL, process, Own())
        await model.load()
        first = SocketFolder.of(cache).served_by()
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert (await model.complete(asking("hello"))).text == "you said hello"  # its own fork is still there
        async with asyncio.timeout(120):
            while SocketFolder.of(cache).served_by() is not None:  # noqa: ASYNC110 - until its lock is free
                await asyncio.sleep(0.02)
        assert following.start()
        await following.connection()
        assert SocketFolder.of(cache).served_by() not in (first, None)
        for one in (process, following):
            (await one.connection()).close()


@pytest.mark.slow
async def test_failing_callback_fails_only_its_own_call(process: SharedProcess) -> None:
    model = SharedModel(MODEL, process, Own())

    def fail(_: str) -> None:
        raise LookupError("the journal is full")

    with pytest.raises(LookupError, match="journal is full"):
        await model.complete(replace(asking("hello"), on_text=fail))
    assert (await model.complete(asking("next"))).text == "you said next"


def test_folder_open_to_other_users_is_not_used(tmp_path: Path) -> None:
    folder = SocketFolder(Path(tempfile.mkdtemp(prefix="goalwright-")) / "calls", "x")
    folder.make()
    folder.folder.chmod(0o755)
    with pytest.raises(UnsafeFolder, match="only you can open"):
        folder.check()
    folder.folder.rmdir()
    folder.folder.symlink_to(tmp_path)
    with pytest.raises(UnsafeFolder, match="only you can open"):
        folder.make()
    assert folder.served_by() is None


def test_too_long_socket_path_is_not_used(tmp_path: Path) -> None:
    folder = SocketFolder(tmp_path / ("x" * 120), "name")
    with pytest.raises(UnsafeFolder, match="too long"):
        folder.make()
    assert SharedProcess(Settings(), tmp_path / ("x" * 120)).start() is False


def test_another_version_or_interpreter_has_another_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = SocketFolder.of(tmp_path).address
    monkeypatch.setattr(socket_folder, "__version__", "9.9")
    assert SocketFolder.of(tmp_path).address != mine
    monkeypatch.undo()
    monkeypatch.setattr(sys, "prefix", "/elsewhere")
    assert SocketFolder.of(tmp_path).address != mine


async def test_socket_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_folder, "is_mine", lambda _: False)
    cache = Path(tempfile.mkdtemp(prefix="goalwright-"))
    folder = SocketFolder.of(cache)
    folder.make()
    with folder.listen(), pytest.raises(ProcessLost, match="another user"):
        await SharedProcess(Settings(), cache).connection()


async def test_failed_start_of_the_process_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "program", lambda *_: ["-c", "raise SystemExit(1)"])
    shared = SharedProcess(Settings(), Path(tempfile.mkdtemp(prefix="goalwright-")))
    assert shared.start()
    own = Own()
    async with asyncio.timeout(120):
        assert (await SharedModel(MODEL, shared, own).complete(asking("hello"))).text == "from the run itself"


@pytest.mark.parametrize(
    ("settings", "models", "env", "terminal", "wanted"),
    [
        (Settings(), PROVIDER, {}, True, True),
        (Settings(), PROVIDER, {}, False, False),
        (Settings(), PROVIDER, {"CI": "true"}, True, False),
        (Settings(helper_minutes=0), PROVIDER, {}, True, False),
        (Settings(max_cost=1.0), PROVIDER, {}, True, False),
        (Settings(), PROVIDER, {"LITELLM_LOG": "DEBUG"}, True, False),
        (Settings(), ("local",), {}, True, False),
        (Settings(), ("local", MODEL), {}, True, True),
    ],
)
def test_shared_process_is_used_only_at_a_terminal(
    settings: Settings, models: tuple[str, ...], env: dict[str, str], terminal: bool, wanted: bool
) -> None:
    assert is_wanted(settings, models, env, terminal=terminal) is wanted


def _is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
