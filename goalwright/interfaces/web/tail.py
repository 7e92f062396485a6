"""Streams a run's events to one page as any process writes them."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import shapes
from goalwright.interfaces.web.replies import COMMENT, RETRY, event
from goalwright.traces.timeline import TYPES
from goalwright_executor.stores.errors import UnknownRun
from goalwright_planner.events import TextStreamed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from goalwright.interfaces.web.site import Site
    from goalwright.interfaces.web.work import Streamed
    from goalwright_executor.stores.row import Row

# The rows that are read at a time, and the seconds between two comments.
_ROWS = 500
_COMMENT_SECONDS = 15.0
# The seconds between two status checks: the process of a run may die silently.
_CHECK = 2.0
# The seconds to wait between two checks of a run that is not running.
_PAUSE = 0.2


async def follow(site: Site, run_id: str, after: int) -> AsyncGenerator[bytes]:
    """Yield the run's rows after a sequence number, then each new row, until the run has ended.

    `run_status`, `text_streamed` and `tool_output` are not journaled and have no number; a page that reconnects misses
    no other event.
    """
    texts: deque[Streamed] = deque()
    with site.changes.waking() as woken, site.work.listening(run_id, texts.append, woken):
        yield RETRY
        sent_status: dict[str, Any] | None = None
        checked_at = commented_at = 0.0
        while not site.streams.closing:
            woken.clear()
            for piece in _pieces(run_id, texts):
                yield piece
            rows = await asyncio.to_thread(_read, site, run_id, after)
            if rows:
                yield b"".join(event(row.type, shapes.short_row(row), row.seq) for row in rows)
                after = rows[-1].seq
            if len(rows) == _ROWS:
                continue
            now = time.monotonic()
            if rows or now - checked_at >= _CHECK:
                checked_at = now
                status = await asyncio.to_thread(site.run_status, run_id)
                ended = status is None or status["held_by"] is None
                if ended and await _has_more(site, run_id, after):
                    continue  # send the last rows before the end
                if status != sent_status or (ended and sent_status is None):
                    sent_status = status
                    yield event("run_status", status or {"run_id": run_id, "status": None, "held_by": None})
                if ended:
                    return
            if now - commented_at >= _COMMENT_SECONDS:
                commented_at = now
                yield COMMENT
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECK):
                    await woken.wait()


async def at_rest(site: Site, run_id: str, after: int) -> AsyncGenerator[bytes]:
    """Yield one `rest` event when a run that is not running gets further events or is deleted.

    The page then reads the run again. The stream of lists is not enough: it has only the newest runs, once a second.
    """
    with site.changes.waking() as woken:
        yield RETRY
        commented_at = time.monotonic()
        while not site.streams.closing:
            woken.clear()
            if await asyncio.to_thread(_has_changed, site, run_id, after):
                yield event("rest", {"run_id": run_id})
                return
            if time.monotonic() - commented_at >= _COMMENT_SECONDS:
                commented_at = time.monotonic()
                yield COMMENT
            with suppress(TimeoutError):
                async with asyncio.timeout(_COMMENT_SECONDS):
                    await woken.wait()
            await asyncio.sleep(_PAUSE)  # other runs may write often


def _has_changed(site: Site, run_id: str, after: int) -> bool:
    try:
        return next(site.reading().rows(site.find(run_id).run_id, types=TYPES, after=after), None) is not None
    except UnknownRun:
        return True


def _read(site: Site, run_id: str, after: int) -> list[Row]:
    return list(islice(site.rows(run_id, after=after), _ROWS)) if site.store() is not None else []


async def _has_more(site: Site, run_id: str, after: int) -> bool:
    return bool(await asyncio.to_thread(_read, site, run_id, after))


def _pieces(run_id: str, texts: deque[Streamed]) -> Iterator[bytes]:
    """Yield the streamed text so far, with adjacent pieces of the same source joined."""
    while texts:
        first = texts.popleft()
        text, source = first.text, _source(first)
        while texts and _source(texts[0]) == source:
            text += texts.popleft().text
        kind, fields = source
        yield event(kind, {"run_id": run_id, **dict(fields), "text": text})


def _source(piece: Streamed) -> tuple[str, tuple[tuple[str, str | None], ...]]:
    """Return the event type of a piece of text, and the fields that name its source."""
    if isinstance(piece, TextStreamed):
        return "text_streamed", (("task", piece.task), ("role", piece.role))
    return "tool_output", (("task", piece.task), ("name", piece.name))
