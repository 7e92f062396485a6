"""Calls made in processes of their own: answers and errors come back to whoever asked, and nothing outlives weft."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from planner.errors import ModelError, RateLimited, Transient
from planner.model import Message, Request, ToolSpec
from tests.openai_server import Call, Fail, OpenAIServer, Say
from weft.models.workers.pool import RemoteModel, Worker, WorkerPool
from weft.models.workers.worker import WorkerSettings
from weft.settings.settings import Settings

if TYPE_CHECKING:
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
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkerPool:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return WorkerPool(WorkerSettings(Settings(), tmp_path / "models.json"), most=1)


async def test_answers_errors_and_dropped_calls_each_reach_who_asked(
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


async def test_a_process_that_is_killed_fails_its_calls_in_passing_and_is_started_anew(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        lost = asyncio.create_task(workers.ask(MODEL, asking("wait")))
        await until(lambda: bool(server.calls))
        (first,) = workers._callers
        os.kill(first.process.pid, signal.SIGKILL)
        with pytest.raises(Transient):
            await lost
        assert (await workers.ask(MODEL, asking("again"))).text == "you said again"
        await until(lambda: len(workers._callers) == 1)
        (second,) = workers._callers
        assert first.process.returncode == -signal.SIGKILL  # nothing of it is left, though the other goes on
        await workers.close()
    assert second.process.returncode == 0


async def test_a_process_that_reads_nothing_any_more_is_ended_all_the_same(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        await workers.warm()
        (stuck,) = workers._callers
        os.kill(stuck.process.pid, signal.SIGSTOP)
        lost = [asyncio.create_task(workers.ask(MODEL, asking("x" * 500_000))) for _ in range(4)]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(workers.close(), 60)
        assert all(isinstance(one, Transient) for one in await asyncio.gather(*lost, return_exceptions=True))
    assert stuck.process.returncode == -signal.SIGKILL


async def test_a_start_that_is_given_up_leaves_no_process(workers: WorkerPool) -> None:
    before = children()
    starting = asyncio.create_task(workers.warm())
    await until(lambda: children() != before)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert children() == before


async def test_a_process_that_cannot_start_says_so(tmp_path: Path) -> None:
    broken = WorkerSettings(None, tmp_path / "models.json")  # type: ignore[arg-type] # it ends the process at once
    with pytest.raises(ModelError, match="ended at once"):
        await Worker.start(broken)


def children() -> set[str]:
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(listed.read_text(encoding="utf-8").split())


async def until(happened: object) -> None:
    end = time.monotonic() + 60
    assert callable(happened)
    while not happened():
        assert time.monotonic() < end, "it never happened"
        await asyncio.sleep(0.02)
