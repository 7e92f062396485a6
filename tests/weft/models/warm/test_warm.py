"""The helper that keeps litellm loaded: one for a user and an installation, without keys, and never in the way."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.openai_server import Call, Fail, OpenAIServer, Say, scripted
from weft.models.warm import connection, place, wire
from weft.models.warm.connection import HelperLost
from weft.models.warm.model import Helper, WarmModel, is_wanted
from weft.models.warm.place import NoPlace, Place
from weft.settings.settings import Settings
from weft_planner.errors import ModelError, RateLimited
from weft_planner.model import Message, Request, ToolSpec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.openai_server import Answer, Script
    from weft_planner.model import Reply

MODEL = "openai/test-model"
PROVIDER = (MODEL,)


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """A cache folder with a short path, since a socket's has few characters, and one helper for all tests."""
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        yield Path(folder)
        process = Place.of(Path(folder)).served_by()
        if process is not None:
            os.kill(process, signal.SIGKILL)


@pytest.fixture
async def helper(cache: Path, serve: Callable[[Script], OpenAIServer]) -> AsyncIterator[Helper]:
    serve(echo)
    one = Helper(Settings(), cache)
    assert one.begin()
    yield one
    if one.connected:
        (await one.connection()).writer.transport.abort()


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
        from weft_planner.model import Reply

        return Reply("from the run itself")


@pytest.mark.slow
async def test_calls_streams_and_errors_reach_their_callers(helper: Helper) -> None:
    own, pieces = Own(), list[str]()
    model = WarmModel(MODEL, helper, own)
    assert model.needs == "litellm"
    await model.load()
    assert model.needs == ""
    replies = await asyncio.gather(*(model.complete(asking(f"word {number}")) for number in range(20)))
    assert [reply.text for reply in replies] == [f"you said word {number}" for number in range(20)]
    assert replies[0].usage.prompt_tokens == 10
    streamed = await model.complete(replace(asking("hello"), on_text=pieces.append))
    assert "".join(pieces) == streamed.text == "you said hello"
    called = await model.complete(asking("use a tool"))
    assert [(one.name, one.arguments) for one in called.tool_calls] == [("look_up", '{"word": "x"}')]
    with pytest.raises(RateLimited) as refused:
        await model.complete(asking("too much"))
    assert refused.value.retry_after == 7
    assert own.asked == []


@pytest.mark.slow
async def test_the_helper_holds_no_key_and_stands_in_no_folder_of_the_user(
    helper: Helper, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN_API_KEY", "sk-never-0123456789")
    await WarmModel(MODEL, helper, Own()).complete(asking("hello"))
    served = Place.of(cache).served_by()
    assert served is not None
    environ = Path(f"/proc/{served}/environ").read_bytes()
    assert b"sk-" not in environ
    assert b"API" not in environ
    assert os.readlink(f"/proc/{served}/cwd") == "/"  # noqa: PTH115
    assert Place.of(cache).socket.stat().st_mode & 0o777 == 0o600
    assert Place.of(cache).folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_helper_that_is_killed_or_hangs_is_done_without(
    helper: Helper, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE", 3.0)
    own = Own()
    model = WarmModel(MODEL, helper, own)
    await model.load()
    fork = (await helper.connection()).pid
    call = asyncio.create_task(model.complete(asking("wait")))
    await asyncio.sleep(0.3)
    os.kill(fork, how)
    assert (await call).text == "from the run itself"
    assert own.asked == ["wait"]
    assert (await model.complete(asking("again"))).text == "from the run itself"
    for _ in range(100):
        if not _is_running(fork):
            break
        await asyncio.sleep(0.05)
    assert not _is_running(fork), "or its call would go on beside the run's own"


@pytest.mark.slow
async def test_a_cancelled_call_is_cancelled_there_too(helper: Helper) -> None:
    model = WarmModel(MODEL, helper, Own())
    await model.load()
    call = asyncio.create_task(model.complete(asking("wait")))
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await model.complete(asking("next"))).text == "you said next"


@pytest.mark.slow
async def test_two_helpers_are_one(helper: Helper, cache: Path) -> None:
    await WarmModel(MODEL, helper, Own()).load()
    first = Place.of(cache).served_by()
    second = connection.start(Place.of(cache), 60)
    assert (await asyncio.to_thread(os.waitpid, second, 0))[1] == 0
    assert Place.of(cache).served_by() == first


@pytest.mark.slow
def test_a_second_run_at_a_terminal_does_not_load_litellm(
    cache: Path, serve: Callable[[Script], OpenAIServer], workspace: Path
) -> None:
    server = serve(scripted({"tasks": [{"id": "a", "action_type": "llm", "instruction": "Say hi", "depends_on": []}]}))
    program = (
        "import sys; from weft.cli.main import main\n"
        "try: main(['run', '--model', 'openai/test-model', 'Say hi'])\n"
        "finally: print('LITELLM' if 'litellm' in sys.modules else 'LEAN', flush=True)"
    )
    # Without what says that litellm is to be loaded by the run itself; a test before may have loaded it here.
    own = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("LITELLM_")}
    env = {**own, "XDG_CACHE_HOME": str(cache / "xdg"), "TERM": "xterm"}
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
    found = Place.of(Path(env["XDG_CACHE_HOME"]) / "weft").served_by()
    assert found is not None
    os.kill(found, signal.SIGKILL)


def test_a_folder_that_others_can_open_is_not_used(tmp_path: Path) -> None:
    where = Place(Path(tempfile.mkdtemp(prefix="weft-")) / "helper", "x")
    where.make()
    where.folder.chmod(0o755)
    with pytest.raises(NoPlace, match="only you can open"):
        where.check()
    where.folder.rmdir()
    where.folder.symlink_to(tmp_path)
    with pytest.raises(NoPlace, match="only you can open"):
        where.make()
    assert where.served_by() is None


def test_a_path_too_long_for_a_socket_is_not_used(tmp_path: Path) -> None:
    where = Place(tmp_path / ("x" * 120), "name")
    with pytest.raises(NoPlace, match="too long"):
        where.make()
    assert Helper(Settings(), tmp_path / ("x" * 120)).begin() is False


def test_another_version_or_interpreter_has_another_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Place.of(tmp_path).socket
    monkeypatch.setattr(place, "__version__", "9.9")
    assert Place.of(tmp_path).socket != mine
    monkeypatch.undo()
    monkeypatch.setattr(sys, "prefix", "/elsewhere")
    assert Place.of(tmp_path).socket != mine


async def test_a_socket_that_is_someone_elses_is_not_used(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(place, "is_mine", lambda _: False)
    folder = Path(tempfile.mkdtemp(prefix="weft-"))
    where = Place(folder / "helper", "x")
    where.make()
    server = await asyncio.start_unix_server(lambda *_: None, where.socket)
    with pytest.raises(HelperLost, match="another user"):
        await connection.Connection.open(where, Settings(), cache / "models.json")
    server.close()


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
def test_it_is_for_people_at_a_terminal(
    settings: Settings, models: tuple[str, ...], env: dict[str, str], terminal: bool, wanted: bool
) -> None:
    assert is_wanted(settings, models, env, terminal=terminal) is wanted


def test_errors_survive_the_wire() -> None:
    error = RateLimited("slow down", hint="wait", model=MODEL, retry_after=3.0)
    back = wire.to_error(wire.from_error(error))
    assert (type(back), back.message, back.hint, back.model) == (RateLimited, "slow down", "wait", MODEL)
    assert isinstance(back, RateLimited)
    assert back.retry_after == 3.0
    assert type(wire.to_error({"type": "os.system", "message": "x", "hint": "", "model": ""})) is ModelError


async def test_what_is_no_message_is_the_end() -> None:
    for raw in (b"", b"\xff\xff\xff\xff", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x04junk"):
        reader = asyncio.StreamReader()
        reader.feed_data(raw)
        reader.feed_eof()
        assert await wire.read(reader) is None


def _is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
