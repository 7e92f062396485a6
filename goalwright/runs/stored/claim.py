"""Claiming a stored run, so that no other process continues it at the same time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from goalwright_executor.stores.errors import StoreFailed

if TYPE_CHECKING:
    from goalwright_executor.journal.journal import Journal


async def claim(journal: Journal, run_id: str) -> None:
    """Claim a run; if the caller is cancelled, the claim is released as soon as it is made."""
    claiming = asyncio.ensure_future(asyncio.to_thread(journal.claim, run_id))
    try:
        await asyncio.shield(claiming)
    except asyncio.CancelledError:
        (refused,) = await asyncio.gather(claiming, return_exceptions=True)
        if refused is None:
            await release(journal, run_id)
        raise


async def release(journal: Journal, run_id: str) -> None:
    """Release a claimed run that was not continued, and wait for it."""
    journal.release(run_id)
    with suppress(StoreFailed):  # closing the journal tries again
        await journal.settle()
