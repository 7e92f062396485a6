"""Make requests with litellm and `asyncio.gather` alone: `python -m bench.harness.bare_calls SLOTS < BODIES`.

litellm uses its bundled price list, as goalwright does, so that it does not fetch one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from bench.harness.model_server import MODEL


async def main(bodies: list[dict[str, Any]], concurrency: int) -> None:
    """Make all calls."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    slots = asyncio.Semaphore(concurrency)

    async def call(body: dict[str, Any]) -> None:
        async with slots:
            await litellm.acompletion(**body | {"model": MODEL}, max_retries=0, num_retries=0)

    await asyncio.gather(*map(call, bodies))


if __name__ == "__main__":
    asyncio.run(main(json.load(sys.stdin), int(sys.argv[1])))
