"""Calls made in worker processes: answers and errors reach the right caller, and nothing outlives weft."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.openai_server import Call, Fail, OpenAIServer, Say
from weft.models.workers import process
from weft.models.workers.pool import RemoteModel, Worker, WorkerPool
from weft.models.workers.process import ForkedProcess
from weft.models.workers.worker import WorkerSettings
from weft.settings.settings import Settings
from weft_planner.errors import ModelError, RateLimited, Transient
from weft_planner.model import Message, Request, ToolSpec

if TYPE_CHECKING:
    from tests.nursery import Nursery
    from tests.openai_server import Answer

MODEL = "openai/test-model"


def asking(text: str) -> Request:
    tool = ToolSpec("look_up", "Looks up a word.", {"type": "object", "properties": {"word": {"type": "string"}}})
    return Request((Message("user", text),), tools=(tool,))


def echo(call: Call) -> Answer:
    if call.user == "too much":
        return Fail(429, "slow down", {"Retry-After": "7"})
    return Say(f"you said {call.user}", after=600.0 if call.user == "wait" else 0.0)


@pytest.fixture
def warm(nursery: Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that need not import litellm first."""
    monkeypatch.setattr(process, "spawn", nursery.start_worker)


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkerPool:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return WorkerPool(WorkerSettings(Settings(), tmp_path / "models.json"), max_workers=1)


@pytest.mark.slow
async def test_answers_and_errors_reach_their_callers_and_calls_can_be_cancelled(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        model = RemoteModel(MODEL, workers)
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
        await workers.close()
    assert [reply.text for reply in replies] == [f"you said word {number}" for number in range(20)]
    assert replies[0].usage.prompt_tokens == 10
    assert replies[0].cost is None
    assert server.calls[0].body["tools"][0]["function"]["name"] == "look_up"
    assert caught.value.retry_after == 7.0
    assert "slow down" in caught.value.message
    assert heard == [last.text] == ["you said aloud"]


@pytest.mark.usefixtures("warm")
async def test_a_killed_worker_fails_its_calls_transiently_and_is_replaced(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        lost = asyncio.create_task(workers.ask(MODEL, asking("wait")))
        await until(lambda: bool(server.calls))
        (first,) = workers._workers
        os.kill(first.process.pid, signal.SIGKILL)
        with pytest.raises(Transient):
            await lost
        assert (await workers.ask(MODEL, asking("again"))).text == "you said again"
        await until(lambda: len(workers._workers) == 1)
        (second,) = workers._workers
        assert first.process.wait(0) == -signal.SIGKILL  # it was cleaned up while the other one runs
        await workers.close()
    assert second.process.wait(0) == 0


@pytest.mark.usefixtures("warm")
@pytest.mark.slow
async def test_a_worker_that_no_longer_reads_is_stopped_all_the_same(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        await workers.warm()
        (stuck,) = workers._workers
        os.kill(stuck.process.pid, signal.SIGSTOP)
        lost = [asyncio.create_task(workers.ask(MODEL, asking("x" * 500_000))) for _ in range(4)]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(workers.close(), 60)
        assert all(isinstance(one, Transient) for one in await asyncio.gather(*lost, return_exceptions=True))
    assert stuck.process.wait(0) == -signal.SIGKILL


@pytest.mark.usefixtures("warm")
async def test_workers_start_together_check_models_first_and_all_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    workers = WorkerPool(WorkerSettings(Settings(), tmp_path / "models.json"), max_workers=3)
    workers.start(calls=32)
    fine, keyless = await asyncio.to_thread(workers.problems, [MODEL, "anthropic/claude-sonnet-4-5"])
    assert fine is None
    assert keyless is not None
    assert "ANTHROPIC_API_KEY" in keyless.remedy
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        await workers.warm()
        await until(lambda: len(workers._workers) == 3)
        pids = {worker.process.pid for worker in workers._workers}
        forked = [worker for worker in workers._workers if isinstance(worker.process, ForkedProcess)]
        assert (len(pids), len(forked)) == (3, 2)
        os.kill(forked[0].process.pid, signal.SIGKILL)
        await until(lambda: len(workers._workers) == 2)
    await workers.close()
    assert not any(is_running(pid) for pid in pids)


@pytest.mark.usefixtures("warm")
async def test_workers_that_are_never_used_end(tmp_path: Path) -> None:
    workers = WorkerPool(WorkerSettings(Settings(), tmp_path / "models.json"), max_workers=2)
    workers.start(calls=32)
    starting = list(workers._starting_up)
    for one in starting:
        await asyncio.to_thread(one.wait)
    pids = [one.process.pid for one in starting if one.process is not None]
    workers.abandon()
    assert len(pids) == 2
    await until(lambda: not any(map(is_running, pids)))


async def test_a_cancelled_start_leaves_no_process(workers: WorkerPool) -> None:
    before = children()
    starting = asyncio.create_task(workers.warm())
    await until(lambda: children() != before)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert children() == before


@pytest.mark.usefixtures("warm")
async def test_a_worker_that_cannot_start_is_reported(tmp_path: Path) -> None:
    broken = WorkerSettings(None, tmp_path / "models.json")  # type: ignore[arg-type] # it ends the process at once
    with pytest.raises(ModelError, match="ended at once"):
        await Worker.start(*process.start(broken))


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
    end = time.monotonic() + 60
    assert callable(happened)
    while not happened():
        assert time.monotonic() < end, "it never happened"
        await asyncio.sleep(0.02)
