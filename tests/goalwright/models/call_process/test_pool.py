"""Calls made by a batch's private workers."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.models.call_process import connection, spawn
from goalwright.models.call_process.pool import PoolModel, WorkerPool
from goalwright.settings.settings import Settings
from goalwright_planner.errors import ModelError, RateLimited, Transient
from goalwright_planner.model import Message, Request, ToolSpec
from tests.openai_server import Call, Fail, OpenAIServer, Say

if TYPE_CHECKING:
    from tests.openai_server import Answer

MODEL = "openai/test-model"
START = spawn.private  # as for users; in tests the processes are forked


def asking(text: str) -> Request:
    tool = ToolSpec("look_up", "Looks up a word.", {"type": "object", "properties": {"word": {"type": "string"}}})
    return Request((Message("user", text),), tools=(tool,))


def echo(call: Call) -> Answer:
    if call.user == "too much":
        return Fail(429, "slow down", {"Retry-After": "7"})
    return Say(f"you said {call.user}", after=600.0 if call.user == "wait" else 0.0)


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkerPool:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return WorkerPool(Settings(), tmp_path / "models.json", max_workers=1)


@pytest.mark.slow
async def test_answers_and_errors_reach_their_callers_and_calls_can_be_cancelled(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(spawn, "private", START)
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        model = PoolModel(MODEL, workers)
        replies = await asyncio.gather(*(model.complete(asking(f"word {number}")) for number in range(20)))
        with pytest.raises(RateLimited) as caught:
            await model.complete(asking("too much"))
        dropped = asyncio.create_task(model.complete(asking("wait")))
        await until(lambda: any(call.user == "wait" for call in server.calls))
        dropped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dropped
        streamed = Request((Message("user", "aloud"),), on_text=heard.append)
        last = await model.complete(streamed)
        assert len(workers._processes) == 1, "those that waited for the first one use it"
        await workers.close()
    assert [reply.text for reply in replies] == [f"you said word {number}" for number in range(20)]
    assert replies[0].usage.prompt_tokens == 10
    assert replies[0].cost is None
    assert server.calls[0].body["tools"][0]["function"]["name"] == "look_up"
    assert caught.value.retry_after == 7.0
    assert "slow down" in caught.value.message
    assert "".join(heard) == last.text == "you said aloud"


async def test_killed_worker_fails_its_calls_transiently_and_is_replaced(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        lost = asyncio.create_task(workers.ask(MODEL, asking("wait")))
        await until(lambda: bool(server.calls))
        (first,) = workers._workers
        os.kill(first.pid, signal.SIGKILL)
        with pytest.raises(Transient):
            await lost
        assert (await workers.ask(MODEL, asking("again"))).text == "you said again"
        await until(lambda: len(workers._alive()) == 1)
        (second,) = workers._workers
        assert is_running(second.pid)
        await workers.close()
    assert not is_running(second.pid)


@pytest.mark.slow
async def test_worker_that_does_not_read_is_stopped(workers: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        await workers.warm()
        (stuck,) = workers._workers
        os.kill(stuck.pid, signal.SIGSTOP)
        lost = [asyncio.create_task(workers.ask(MODEL, asking("x" * 500_000))) for _ in range(4)]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(workers.close(), 60)
        outcomes = await asyncio.gather(*lost, return_exceptions=True)
        assert all(isinstance(outcome, Transient) for outcome in outcomes)
    assert not is_running(stuck.pid)


@pytest.mark.slow
async def test_hanging_worker_fails_its_calls_transiently_and_is_replaced(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        await workers.warm()
        (stuck,) = workers._workers
        os.kill(stuck.pid, signal.SIGSTOP)
        with monkeypatch.context() as patched:
            patched.setattr(connection, "SILENCE", 3)
            with pytest.raises(Transient):
                await workers.ask(MODEL, asking("anything"))
        assert (await workers.ask(MODEL, asking("again"))).text == "you said again"
        await workers.close()
    assert not is_running(stuck.pid)


async def test_workers_start_together_check_models_first_and_all_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    workers = WorkerPool(Settings(), tmp_path / "models.json", max_workers=3)
    workers.start(calls=32)
    fine, keyless = await asyncio.to_thread(workers.problems, [MODEL, "anthropic/claude-sonnet-4-5"])
    assert fine is None
    assert keyless is not None
    assert "ANTHROPIC_API_KEY" in keyless.remedy
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        await workers.warm()
        await until(lambda: len(workers._workers) == 3)
        pids = {worker.pid for worker in workers._workers}
        assert len(pids) == 3
        assert len(workers._processes) == 1, "litellm is loaded once for all"
        os.kill(min(pids), signal.SIGKILL)
        await until(lambda: len(workers._alive()) == 2)
    await workers.close()
    assert not any(is_running(pid) for pid in pids)


async def test_workers_that_are_never_used_end(tmp_path: Path) -> None:
    workers = WorkerPool(Settings(), tmp_path / "models.json", max_workers=2)
    workers.start(calls=32)
    await asyncio.to_thread(workers.problems, [])
    (process,) = workers._processes
    group = os.getpgid(process.pid)
    workers.abandon()
    await until(lambda: not any(map(is_running, members(group))))


async def test_cancelled_start_leaves_no_process(workers: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "private", START)
    before = children()
    starting = asyncio.create_task(workers.warm())
    await until(lambda: children() != before)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await workers.close()
    assert children() == before


async def test_a_worker_that_cannot_start_is_reported(workers: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "private", START)
    monkeypatch.setattr(spawn, "program", lambda *_: ["-c", "raise SystemExit(1)"])
    with pytest.raises(ModelError, match="ended at once"):
        await workers.warm()
    await workers.close()


def members(group: int) -> list[int]:
    """The processes of a group."""
    stats = {int(path.parent.name): path for path in Path("/proc").glob("[0-9]*/stat")}
    return [pid for pid in stats if is_running(pid) and os.getpgid(pid) == group]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def children() -> set[str]:
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(listed.read_text(encoding="utf-8").split())


async def until(happened: object) -> None:
    end = time.monotonic() + 300
    assert callable(happened)
    while not happened():
        assert time.monotonic() < end, "it never happened"
        await asyncio.sleep(0.02)
