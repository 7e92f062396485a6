"""A run's events as they are written, by any process, for one page."""

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

# How many rows are read at a time, and the seconds between two comments.
_ROWS = 500
_QUIET = 15.0
# How often a run is looked at whose process may have died without a word, in seconds.
_LOOK = 2.0
# The least time between two looks at a run that nobody works on.
_CALM = 0.2


async def follow(site: Site, run_id: str, after: int) -> AsyncGenerator[bytes]:
    """The run's rows after a number, then each as it is written, until the run has ended and nobody holds it.

    `run_status`, `text_streamed` and `tool_output` are not in the journal and have no number: a page that comes back
    misses none of the rest.
    """
    texts: deque[Streamed] = deque()
    with site.changes.waking() as woken, site.work.listening(run_id, texts.append, woken):
        yield RETRY
        shown: dict[str, Any] | None = None
        looked = spoke = 0.0
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
            if rows or now - looked >= _LOOK:
                looked = now
                status = await asyncio.to_thread(site.run_status, run_id)
                ended = status is None or status["held_by"] is None
                if ended and await _has_more(site, run_id, after):
                    continue  # what was written before the end comes before the word of it
                if status != shown or (ended and shown is None):
                    shown = status
                    yield event("run_status", status or {"run_id": run_id, "status": None, "held_by": None})
                if ended:
                    return
            if now - spoke >= _QUIET:
                spoke = now
                yield COMMENT
            try:
                async with asyncio.timeout(_LOOK):
                    await woken.wait()
            except TimeoutError:
                pass


async def at_rest(site: Site, run_id: str, after: int) -> AsyncGenerator[bytes]:
    """One word, `rest`, when a run that nobody works on has more events than that, or is gone: it is read again then.

    Lists tell of the newest runs alone, and once a second: a run may have been continued and wait again by then.
    """
    with site.changes.waking() as woken:
        yield RETRY
        spoke = time.monotonic()
        while not site.streams.closing:
            woken.clear()
            if await asyncio.to_thread(_is_other, site, run_id, after):
                yield event("rest", {"run_id": run_id})
                return
            if time.monotonic() - spoke >= _QUIET:
                spoke = time.monotonic()
                yield COMMENT
            with suppress(TimeoutError):
                async with asyncio.timeout(_QUIET):
                    await woken.wait()
            await asyncio.sleep(_CALM)  # others may write much


def _is_other(site: Site, run_id: str, after: int) -> bool:
    """Whether a run is no longer what was read until an event."""
    try:
        return next(site.reading().rows(site.find(run_id).run_id, types=TYPES, after=after), None) is not None
    except UnknownRun:
        return True


def _read(site: Site, run_id: str, after: int) -> list[Row]:
    return list(islice(site.rows(run_id, after=after), _ROWS)) if site.store() is not None else []


async def _has_more(site: Site, run_id: str, after: int) -> bool:
    """Whether something was written between the last reading and the run's end."""
    return bool(await asyncio.to_thread(_read, site, run_id, after))


def _pieces(run_id: str, texts: deque[Streamed]) -> Iterator[bytes]:
    """The pieces of streamed text so far, one event for all that belong together."""
    while texts:
        first = texts.popleft()
        text, whose = first.text, _whose(first)
        while texts and _whose(texts[0]) == whose:
            text += texts.popleft().text
        kind, about = whose
        yield event(kind, {"run_id": run_id, **dict(about), "text": text})


def _whose(piece: Streamed) -> tuple[str, tuple[tuple[str, str | None], ...]]:
    """What a piece is called, and what it is a piece of."""
    if isinstance(piece, TextStreamed):
        return "text_streamed", (("task", piece.task), ("role", piece.role))
    return "tool_output", (("task", piece.task), ("name", piece.name))
