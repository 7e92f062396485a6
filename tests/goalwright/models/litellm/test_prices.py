"""Prices from litellm's list, with and without litellm loaded."""

from __future__ import annotations

import subprocess
import sys

from goalwright.models.litellm.lifecycle import load
from goalwright.models.litellm.prices import listed_price, unloaded_price
from goalwright_planner.model import Usage

_MILLION = Usage(1, 1_000_000, 1_000_000)
# A call that is cancelled where litellm is not loaded, as when a process of its own makes the calls.
CANCELLED = """
import asyncio, sys
from goalwright.models.metered import MeteredModel, spent_by
from goalwright_planner.model import Message, Request

class Hanging:
    name = "openai/gpt-4o"

    async def complete(self, request):
        await asyncio.sleep(60)

async def main():
    request = Request((Message("user", "Say hello. " * 1000),))
    call = asyncio.create_task(MeteredModel(Hanging()).complete(request))
    await asyncio.sleep(0)
    call.cancel()
    try:
        await call
    except asyncio.CancelledError as error:
        print(spent_by(error).cost, "litellm" in sys.modules)

asyncio.run(main())
"""


def test_cancelled_call_has_a_cost_without_litellm_loaded() -> None:
    ran = subprocess.run([sys.executable, "-c", CANCELLED], capture_output=True, text=True, check=True)
    cost, is_loaded = ran.stdout.split()
    assert 0.005 < float(cost) < 0.02, "thousands of tokens at $2.50 a million"
    assert is_loaded == "False"


def test_a_price_is_the_same_with_litellm_loaded_or_not() -> None:
    litellm = load()
    chat = sorted(name for name, row in litellm.model_cost.items() if row.get("mode") == "chat")
    names = [*chat[:: len(chat) // 50], "gpt-4o", "openai/gpt-4o-mini", "anthropic/claude-3-haiku-20240307", "no/such"]

    other = {
        name: (listed, found)
        for name in names
        if (listed := listed_price(litellm, name)).is_known
        and listed.of(_MILLION) != (found := unloaded_price(name)).of(_MILLION)
    }

    assert other == {}
