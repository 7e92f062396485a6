"""Recorded runs compared, replayed, exported and imported."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.replies import attachment, in_thread, json_reply
from goalwright.traces import transfer
from goalwright.traces.diff import compare
from goalwright.traces.read import recorded_selections
from goalwright.traces.reselect import reselect
from goalwright.traces.timeline import TYPES, timeline
from goalwright.workspace.workspace import Workspace
from goalwright_executor.journal import trace_file
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright.traces.timeline import Timeline


@in_thread
def diff_runs(site: Site, request: Request) -> list[dict[str, Any]]:
    """Return the differences of two runs as `trace diff --json` prints them."""

    def view(name: str) -> Timeline:
        run = site.find(request.path_params[name])
        return timeline(site.reading().rows(run.run_id, types=TYPES), alive=run.status == "running")

    return [asdict(difference) for difference in compare(view("run"), view("other"))]


async def replay_run(site: Site, request: Request) -> Response:
    """Replay a run strictly, or with `select` only its selection of skills; no model is called."""
    body = await bodies.document(request, "select")
    run = await asyncio.to_thread(site.find, request.path_params["run"])
    if bodies.flag(body, "select"):
        return json_reply(await asyncio.to_thread(_reselect, site, (run.run_id,)))

    def replay() -> dict[str, Any]:
        from goalwright.traces import strict_replay

        store = site.reading()
        replayed = strict_replay.strict(store.rows(run.run_id), site.paths, site.settings, journal=store.url)
        return asyncio.run(replayed).to_dict()  # in a thread with its own event loop: it may take seconds

    return json_reply(await asyncio.to_thread(replay))


@in_thread
def replay_selections(site: Site, _: Request) -> list[dict[str, Any]]:
    """Select skills again for the goals of all runs, as `replay --select --json` prints it."""
    return _reselect(site, ())


def _reselect(site: Site, runs: tuple[str, ...]) -> list[dict[str, Any]]:
    settings = site.settings
    recorded, workspace = recorded_selections(runs, site.paths, settings), Workspace(site.paths, settings)
    return [row.to_dict() for row in reselect(recorded, workspace, left_out=None if runs else [])]


async def export_run(site: Site, request: Request) -> Response:
    """Export a run as JSON lines or as one HTML page."""
    form = request.query_params.get("form", "jsonl")
    if form not in ("jsonl", "html"):
        raise InputError(f"form={form[:40]!r} is unknown", hint="use form=jsonl or form=html")
    run = await asyncio.to_thread(site.find, request.path_params["run"])

    def read() -> bytes:
        from goalwright.interfaces.web import trace_page as html_page

        rows = site.reading().rows(run.run_id)
        if form == "html":
            text = html_page.render([list(rows)], {run.run_id} if run.status == "running" else set())
        else:
            text = "".join(f"{line}\n" for line in trace_file.lines(rows))
        return text.encode("utf-8", "backslashreplace")

    return attachment(await asyncio.to_thread(read), f"{run.run_id}.{form}")


async def send_spans(site: Site, request: Request) -> Response:
    """Send a run, without prompts and replies, to the collector that the server's environment names."""
    await bodies.document(request)
    run = await asyncio.to_thread(site.find, request.path_params["run"])

    def send() -> int:
        from goalwright.telemetry import otlp

        if not otlp.is_configured(os.environ):
            raise InputError(
                "no OpenTelemetry collector is configured",
                hint="set OTEL_EXPORTER_OTLP_ENDPOINT and start `goalwright serve` again",
            )
        return otlp.send(site.reading().rows(run.run_id))

    return json_reply({"run_id": run.run_id, "spans": await asyncio.to_thread(send)})


async def import_runs(site: Site, request: Request) -> Response:
    """Import all runs of an exported trace, or none."""
    upload = site.drafts.place("trace.jsonl")
    try:
        await bodies.save(request, upload, bodies.ARCHIVE)

        def read() -> list[str]:
            trace = trace_file.TraceFile(upload, "the trace")
            return transfer.import_runs([trace], site.journal().store, site.paths)

        return json_reply({"runs": await asyncio.to_thread(read)}, 201)
    finally:
        site.drafts.discard(upload)
