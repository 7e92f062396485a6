"""Requests in a bare gather over litellm: `python -m bench.harness.bare_calls SLOTS < BODIES`.

litellm is as it comes, but for its price list: the bundled one, as for goalwright, so that none is fetched.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from bench.harness.model_server import MODEL


async def main(bodies: list[dict[str, Any]], at_a_time: int) -> None:
    """Make all calls."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    slots = asyncio.Semaphore(at_a_time)

    async def call(body: dict[str, Any]) -> None:
        async with slots:
            await litellm.acompletion(**body | {"model": MODEL}, max_retries=0, num_retries=0)

    await asyncio.gather(*map(call, bodies))


if __name__ == "__main__":
    asyncio.run(main(json.load(sys.stdin), int(sys.argv[1])))
