"""The list of runs, one run, one of its tasks, tags, notes, statistics, and deletion."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies, shapes
from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.replies import in_thread, json_reply
from goalwright.runs.stored import records
from goalwright.traces import run_search, tagging, transfer
from goalwright.traces.read import Trace
from goalwright.traces.statistics import MOST_DAYS, statistics
from goalwright.traces.timeline import TYPES
from goalwright_executor.stores.errors import RunHeld, UnknownRun
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright_executor.stores.row import Row, RunSummary
    from goalwright_executor.stores.store import Store

_MOST_SNIPPETS = 100
# Seconds for which a request reads runs; the remaining ones get no snippet.
_SNIPPET_SECONDS = 1.0


@in_thread
def list_runs(site: Site, request: Request) -> dict[str, Any]:
    """Return a page of runs, newest first; `next` is the `before` of the next page.

    `indexed` is false while some runs are not in the search index yet.
    """
    query = request.query_params
    most = max(1, bodies.number(request, "most", 100, bodies.PAGE))
    names = {name: value for name, value in query.items() if name not in ("most", "q", "status")}
    filters = run_search.run_filter(names | {"text": query.get("q"), "status": ",".join(query.getlist("status"))})
    store = site.store()
    if store is None:
        return {"runs": [], "next": None}
    indexed = site.catch_up() if filters.keys() & {"text", "model", "code"} else True
    runs = list(store.summaries(most + 1, **filters))
    lines = [shapes.summary(site.local(run)) for run in runs[:most]]
    page = {"runs": lines, "next": runs[most - 1].run_id if len(runs) > most else None}
    return page if indexed else page | {"indexed": False}


@in_thread
def show_run(site: Site, request: Request) -> dict[str, Any]:
    """Return the current state of a run."""
    run = site.find(request.path_params["run"])
    held_by = site.held_by(run)
    document = shapes.run(site.rows(run.run_id, types=TYPES), alive=held_by is not None, held_by=held_by)
    queued = site.work.queued(run.run_id)
    document["waiting"] = [
        item for item in document["waiting"] if item["id"] not in queued
    ]  # a person has answered them
    return document | {
        "worked": run.seconds,
        "journal": site.reading().url,
        "tags": list(run.tags),
        "note": run.note,
    }


@in_thread
def show_task(site: Site, request: Request) -> list[dict[str, Any]]:
    """Return all events of one task in full; `(plan)` and `(synthesis)` count as tasks."""
    task = request.path_params["task"]
    run = site.find(request.path_params["run"])
    rows = list(Trace(run.run_id, site.reading()).step_rows(task))
    rows_with_logs = records.local_rows(_with_logs(rows, site.reading(), run.run_id), site.paths)
    events = [row.to_dict() for row in rows_with_logs]
    if not events:
        raise HttpError(
            404, "UNKNOWN_TASK", f"run {run.run_id} has no task {task[:80]!r}", hint="it may not have started yet"
        )
    return events


def _with_logs(rows: list[Row], store: Store, run_id: str) -> list[Row]:
    """Return a task's rows with its tools' logs; logs name no task, so match each with the call that follows it."""
    called = [row for row in rows if row.type == "tool_called"]
    logs = list(store.rows(run_id, types=("tool_logged",))) if called else []
    own: list[Row] = []
    for call in called:
        milliseconds = call.body.get("envelope", {}).get("stats", {}).get("time_ms") or 0
        candidates = [
            (abs(1000 * log.body.get("seconds", 0) - milliseconds), -log.seq, log)
            for log in logs
            if log.seq < call.seq and log.body.get("name") == call.body.get("name") and log not in own
        ]
        if candidates and rows[0].seq < min(candidates)[2].seq:
            own.append(min(candidates)[2])
    return sorted([*rows, *own], key=lambda row: row.seq)


@in_thread
def delete_run(site: Site, request: Request) -> dict[str, Any]:
    """Delete a run and its artifacts; `left` lists folders that could not be deleted."""
    run = site.find(request.path_params["run"])
    deleted = transfer.delete_runs([run.run_id], site.reading(), site.paths)
    if not deleted.runs:
        raise RunHeld(f"run {run.run_id} is in use", hint="stop it first")
    return {"deleted": request.path_params["run"], "left": [str(folder) for folder in deleted.left]}


async def set_tags(site: Site, request: Request) -> Response:
    """Replace the tags of a run."""
    tags = bodies.texts(await bodies.document(request, "tags"), "tags")
    run = site.find(request.path_params["run"])
    return json_reply(_tagged(await tagging.retag(site.journal(), site.paths, run.run_id, lambda _: tags)))


async def set_note(site: Site, request: Request) -> Response:
    """Replace the note of a run."""
    note = bodies.text(await bodies.document(request, "note"), "note")
    run = site.find(request.path_params["run"])
    return json_reply(_tagged(await tagging.write_note(site.journal(), site.paths, run.run_id, note)))


def _tagged(run: RunSummary) -> dict[str, Any]:
    return {"run_id": run.run_id, "tags": list(run.tags), "note": run.note}


@in_thread
def show_snippets(site: Site, request: Request) -> dict[str, Any]:
    """Return an excerpt of each `run` with words of `q` that its row in the list does not show."""
    from goalwright_executor.history.snippets import snippet

    runs = request.query_params.getlist("run")
    if len(runs) > _MOST_SNIPPETS:
        raise InputError(f"snippets of {len(runs)} runs were asked for", hint=f"ask for {_MOST_SNIPPETS} at most")
    search = request.query_params.get("q", "")[: bodies.BODY]
    deadline = time.monotonic() + _SNIPPET_SECONDS
    snippets: dict[str, Any] = {}
    for run_id in runs:
        if time.monotonic() > deadline:
            break
        try:
            local = partial(records.local_text, run_id=run_id, paths=site.paths)
            excerpt = snippet(site.reading(), site.find(run_id), search, local)
        except UnknownRun:
            continue  # deleted meanwhile
        if excerpt is not None:
            snippets[run_id] = excerpt.to_dict()
    return {"snippets": snippets}


@in_thread
def show_statistics(site: Site, request: Request) -> dict[str, Any]:
    """Return `trace stats --json` of recent days; `indexed` is whether the skills of all runs are counted."""
    days = max(1, bodies.number(request, "days", 30, MOST_DAYS))
    store = site.store()
    indexed = store is None or site.catch_up()
    return statistics(store, days) | {"indexed": indexed}
