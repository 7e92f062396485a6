"""What a page needs first, and event streams: one run, and what changes in the lists."""

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

# Seconds between two messages about changed runs, between two looks at skills and dead processes, and comments.
_RUNS = 1.0
_LOOK = 3.0
_QUIET = 15.0
# What names a collector of spans (`telemetry/otlp.py`, which takes long to import).
_COLLECTORS = {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}


async def about(site: Site, _: Request) -> Response:
    """What a page needs to know first: the workspace, the version, and whether anything may be changed."""
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
    """A run's events after a number, and each further one as any process writes it."""
    run = await asyncio.to_thread(site.find, request.path_params["run"])
    after = _number(request.headers.get("last-event-id", ""))
    after = bodies.number(request, "after", 0) if after is None else after
    site.streams.check()
    return stream_reply(site.streams.counted([follow(site, run.run_id, after)]))


async def all_events(site: Site, request: Request) -> Response:
    """Lines of runs that changed, at most once a second, and unless `skills=0` a word when skills did.

    With `run=ID:SEQ`, also what happens in that run after the number: one stream serves all tabs of a browser, which
    opens few connections to a server. `rest=ID:SEQ` is for one that nobody works on: a word when it has more events.
    `lists=0` leaves the lines out.
    """
    given = request.query_params
    sources = [follow(site, run, after) for run, after in _followed(given.getlist("run")).items()]
    sources += [at_rest(site, run, after) for run, after in _followed(given.getlist("rest"), "rest").items()]
    if given.get("lists") != "0":
        sources.append(await _changes(site, skills=given.get("skills") != "0"))
    site.streams.check()
    return stream_reply(site.streams.counted(sources))


def _followed(given: list[str], name: str = "run") -> dict[str, int]:
    """The runs that a page follows, each with the number after which it does."""
    if len(given) > MOST_STREAMS:
        raise InputError(f"one stream follows {MOST_STREAMS} runs at most", hint="close some of the pages")
    runs: dict[str, int] = {}
    for text in given:
        run_id, _, number = text.rpartition(":")
        after = _number(number)
        if after is None:
            raise InputError(f"'{name}={text[:80]}' has no number", hint="give the run as ID:SEQ")
        runs[run_id] = min(after, runs.get(run_id, after))
    return runs


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 16 else None


async def _changes(site: Site, *, skills: bool) -> AsyncGenerator[bytes]:
    """What changes from now on: a page that reads once the stream is open misses nothing."""
    known = await asyncio.to_thread(_lines, site)
    return _changed_since(site, known, await asyncio.to_thread(site.skills_stamp) if skills else None)


async def _changed_since(site: Site, known: dict[str, dict[str, Any]], stamp: int | None) -> AsyncGenerator[bytes]:
    with site.changes.waking() as woken:
        yield RETRY
        woken.set()  # something may have changed before this
        looked, spoke = time.monotonic(), 0.0
        while not site.streams.closing:
            if time.monotonic() - spoke >= _QUIET:
                spoke = time.monotonic()
                yield COMMENT
            is_change = await _woken(woken)
            woken.clear()
            if is_change or time.monotonic() - looked >= _LOOK:
                now = await asyncio.to_thread(_lines, site)
                changed = [line for run_id, line in now.items() if known.get(run_id) != line]
                # A run that is only pushed out of the newest by others is not gone.
                gone = [run_id for run_id in known if run_id not in now and (not now or run_id > min(now))]
                known = now
                if changed or gone:
                    yield event("runs", {"runs": changed, "gone": gone})
            if time.monotonic() - looked >= _LOOK:
                looked = time.monotonic()
                before, stamp = stamp, None if stamp is None else await asyncio.to_thread(site.skills_stamp)
                if stamp != before:
                    yield event("skills", {})
            await asyncio.sleep(_RUNS)


async def _woken(woken: asyncio.Event) -> bool:
    """Wait for a change, or until it is time to look without one."""
    try:
        async with asyncio.timeout(_LOOK):
            await woken.wait()
    except TimeoutError:
        return False
    return True


def _lines(site: Site) -> dict[str, dict[str, Any]]:
    """The newest runs; all streams share a look."""
    return {run.run_id: shapes.summary(run) for run in reversed(site.newest())}
