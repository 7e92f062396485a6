"""Requests in a bare gather over litellm: `python -m bench.harness.bare_calls SLOTS < BODIES`.

litellm is loaded as weft loads it, so that both have the same one.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from bench.harness.model_server import MODEL
from weft.providers import litellm_model


async def main(bodies: list[dict[str, Any]], at_a_time: int) -> None:
    """Make all calls."""
    litellm = litellm_model.load()
    slots = asyncio.Semaphore(at_a_time)

    async def call(body: dict[str, Any]) -> None:
        async with slots:
            await litellm.acompletion(**body | {"model": MODEL}, max_retries=0, num_retries=0)

    await asyncio.gather(*map(call, bodies))


if __name__ == "__main__":
    asyncio.run(main(json.load(sys.stdin), int(sys.argv[1])))
