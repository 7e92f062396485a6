"""The first request of a page, and event streams: one run, and changes of the lists."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies, shapes
from goalwright.interfaces.web.replies import COMMENT, RETRY, event, json_reply, stream_reply
from goalwright.interfaces.web.streams import MOST_STREAMS
from goalwright.interfaces.web.tail import at_rest, follow
from goalwright.version import __version__
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site

# Seconds between two events about changed runs, two checks of skills and dead processes, and two comments.
_RUNS = 1.0
_CHECK = 3.0
_COMMENT_SECONDS = 15.0
# The variables that name a collector of spans, as in `telemetry/otlp.py`, which is slow to import.
_COLLECTORS = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}


async def about(site: Site, _: Request) -> Response:
    """Return the workspace, the version, and whether the server is read-only."""
    return json_reply(
        {
            "version": __version__,
            "workspace": str(site.paths.workspace),
            "name": site.paths.workspace.name,
            "read_only": site.read_only,
            "otlp": bool(_COLLECTORS & os.environ.keys()),
        }
    )


async def run_events(site: Site, request: Request) -> Response:
    """Stream a run's events after a sequence number, and each new one as any process writes it."""
    run = await asyncio.to_thread(site.find, request.path_params["run"])
    after = _number(request.headers.get("last-event-id", ""))
    after = bodies.number(request, "after", 0) if after is None else after
    site.streams.check()
    return stream_reply(site.streams.counted([follow(site, run.run_id, after)]))


async def all_events(site: Site, request: Request) -> Response:
    """Stream the runs that changed, at most once a second, and an event when skills change (unless `skills=0`).

    `run=ID:SEQ` adds the events of that run after the number: one stream serves all tabs, because browsers open few
    connections to a server. `rest=ID:SEQ` adds one event when a run that is not running gets further events. `lists=0`
    leaves out the changed runs and skills.
    """
    query = request.query_params
    sources = [follow(site, run, after) for run, after in _followed(query.getlist("run")).items()]
    sources += [at_rest(site, run, after) for run, after in _followed(query.getlist("rest"), "rest").items()]
    if query.get("lists") != "0":
        sources.append(await _changes(site, skills=query.get("skills") != "0"))
    site.streams.check()
    return stream_reply(site.streams.counted(sources))


def _followed(values: list[str], name: str = "run") -> dict[str, int]:
    """Return the sequence numbers after which a page follows runs, by run id."""
    if len(values) > MOST_STREAMS:
        raise InputError(f"one stream follows {MOST_STREAMS} runs at most", hint="close some of the pages")
    runs: dict[str, int] = {}
    for text in values:
        run_id, _, number = text.rpartition(":")
        after = _number(number)
        if after is None:
            raise InputError(f"'{name}={text[:80]}' has no number", hint="give the run as ID:SEQ")
        runs[run_id] = min(after, runs.get(run_id, after))
    return runs


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 16 else None


async def _changes(site: Site, *, skills: bool) -> AsyncGenerator[bytes]:
    """Stream the changes from now on; a page that reads once the stream is open misses none."""
    runs = await asyncio.to_thread(_newest_runs, site)
    return _changed_since(site, runs, await asyncio.to_thread(site.skills_stamp) if skills else None)


async def _changed_since(site: Site, sent: dict[str, dict[str, Any]], stamp: int | None) -> AsyncGenerator[bytes]:
    with site.changes.waking() as woken:
        yield RETRY
        woken.set()  # something may have changed before this
        checked_at, commented_at = time.monotonic(), 0.0
        while not site.streams.closing:
            if time.monotonic() - commented_at >= _COMMENT_SECONDS:
                commented_at = time.monotonic()
                yield COMMENT
            is_change = await _woken(woken)
            woken.clear()
            if is_change or time.monotonic() - checked_at >= _CHECK:
                now = await asyncio.to_thread(_newest_runs, site)
                changed = [run for run_id, run in now.items() if sent.get(run_id) != run]
                # A run that newer ones pushed off the list is not gone.
                gone = [run_id for run_id in sent if run_id not in now and (not now or run_id > min(now))]
                sent = now
                if changed or gone:
                    yield event("runs", {"runs": changed, "gone": gone})
            if time.monotonic() - checked_at >= _CHECK:
                checked_at = time.monotonic()
                before, stamp = stamp, None if stamp is None else await asyncio.to_thread(site.skills_stamp)
                if stamp != before:
                    yield event("skills", {})
            await asyncio.sleep(_RUNS)


async def _woken(woken: asyncio.Event) -> bool:
    """Wait for a change; return False if the next check is due first."""
    try:
        async with asyncio.timeout(_CHECK):
            await woken.wait()
    except TimeoutError:
        return False
    return True


def _newest_runs(site: Site) -> dict[str, dict[str, Any]]:
    """Return the newest runs by id; all streams share this list."""
    return {run.run_id: shapes.summary(run) for run in reversed(site.newest())}
