"""The end of a run closes its connections, but not those of other runs."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.model import LitellmModel
from goalwright_planner.model import Message, Request
from tests.openai_server import Call, OpenAIServer, Say, Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.model import Reply


class Slow:
    """Answers `slow` when it is released, anything else at once."""

    def __init__(self) -> None:
        self.asked, self.goes_on = threading.Event(), threading.Event()

    def __call__(self, call: Call) -> Say:
        if call.user != "slow":
            return Say("quick")
        self.asked.set()
        return Say("slow", once=self.goes_on)


async def ask(server: OpenAIServer, text: str) -> Reply:
    model = LitellmModel("openai/test-model", 60, parameters={"api_base": server.base, "api_key": "sk-test"})
    return await model.complete(Request((Message("user", text),), task="t"))


async def ends(server: OpenAIServer) -> None:
    """Make calls and close the connections, as a run does."""
    await ask(server, "quick")
    await lifecycle.close()


async def test_end_of_a_run_does_not_break_calls_of_another(serve: Callable[[Script], OpenAIServer]) -> None:
    slow = Slow()
    server = serve(slow)
    await ask(server, "quick")
    call = asyncio.ensure_future(ask(server, "slow"))
    await asyncio.to_thread(slow.asked.wait, 60)
    await ends(server)
    slow.goes_on.set()
    assert (await call).text == "slow"
    await ends(server)


async def test_end_of_a_run_does_not_break_calls_of_another_thread(
    serve: Callable[[Script], OpenAIServer],
) -> None:
    slow = Slow()
    server = serve(slow)
    texts: list[str] = []

    async def call() -> None:
        texts.append((await ask(server, "slow")).text)
        await lifecycle.close()

    thread = threading.Thread(target=asyncio.run, args=(call(),), daemon=True)
    thread.start()
    await asyncio.to_thread(slow.asked.wait, 60)
    await ends(server)
    slow.goes_on.set()
    await asyncio.to_thread(thread.join, 60)
    assert texts == ["slow"]
    assert len(server.calls) == 2


async def test_a_closed_connection_is_opened_again(serve: Callable[[Script], OpenAIServer]) -> None:
    server = serve(Slow())
    await ends(server)
    assert (await ask(server, "quick")).text == "quick"
    await lifecycle.close()
