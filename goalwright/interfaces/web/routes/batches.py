"""Batches, as the runs in the journal show them, and evaluations, as their folders have them."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from goalwright.evaluation import store as evaluation_store
from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.replies import in_thread, json_reply
from goalwright_executor.stores.errors import NotRunning
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import clip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright_executor.stores.row import BatchCount
    from goalwright_executor.stores.store import Store

_FAILURES = ("failed", "partial", "stopped")
_GO_ON = ("running", "waiting", "interrupted")
_MOST_FAILURES = 300
_KINDS = 20
_MOST_EVALUATIONS = 100


@in_thread
def list_batches(site: Site, _: Request) -> list[dict[str, Any]]:
    """Return all batches, newest first, with their runs by status."""
    store = site.store()
    if store is None:
        return []
    counted = groupby(store.batches(), key=lambda row: row.batch)
    return [_shape(store, batch, list(same)) for batch, same in counted]


@in_thread
def show_batch(site: Site, request: Request) -> dict[str, Any]:
    """Return one batch with its failures by kind; `GET /runs?batch=` lists its runs."""
    store, batch = site.reading(), _counted(site, request)
    return _shape(store, batch[0].batch, batch) | {"failures": _failures(store, batch[0].batch)}


async def stop_batch(site: Site, request: Request) -> Response:
    """Ask the process of a batch to stop: no further goal starts, and running ones are interrupted."""
    await bodies.document(request)

    def stop() -> list[str]:
        batch = _counted(site, request)[0].batch
        store, stopping = site.reading(), []
        for run in store.summaries(batch=batch, status=("running",)):
            try:
                store.request_stop(run.run_id, "stop_batch")
            except NotRunning:  # it ended meanwhile
                continue
            stopping.append(run.run_id)
        if not stopping:
            raise NotRunning(f"no run of batch {batch} is running", hint="it has ended, or is between two goals")
        return stopping

    return json_reply({"runs": await asyncio.to_thread(stop)}, 202)


def _counted(site: Site, request: Request) -> list[BatchCount]:
    batch = request.path_params["batch"]
    counts = [row for row in site.reading().batches() if row.batch == batch]
    if not counts:
        raise HttpError(404, "UNKNOWN_BATCH", f"there is no batch {batch[:80]!r}", hint="see the list")
    return counts


def _shape(store: Store, batch: str, counted: Iterable[BatchCount]) -> dict[str, Any]:
    rows = list(counted)
    first, last = min(row.first for row in rows), max(row.last for row in rows)
    newest = next(store.rows(last, types=("run_started",)), None)
    sums = _sums(rows)
    return {
        "batch": batch,
        "goals": max((newest.body.get("batch_size") if newest is not None else None) or 0, sums["runs"]),
        "statuses": {row.status: row.runs for row in rows},
        **sums,
        "ended": _sums([row for row in rows if row.status not in _GO_ON]),
        "first": first,
        "last": last,
        "started": store.find(first).started,
        "goal": store.find(first).goal,
    }


def _sums(rows: list[BatchCount]) -> dict[str, Any]:
    """Return the number of runs, and their total time and cost."""
    costs = [row.cost_usd for row in rows]
    return {
        "runs": sum(row.runs for row in rows),
        "seconds": round(sum(row.seconds for row in rows), 3),
        "cost_usd": None if None in costs else sum(cost or 0.0 for cost in costs),
    }


def _failures(store: Store, batch: str) -> list[dict[str, Any]]:
    """Count the errors that ended runs, the most frequent first, among the newest failures."""
    kinds: Counter[str] = Counter()
    example: dict[str, str] = {}
    for run in islice(store.summaries(batch=batch, status=_FAILURES), _MOST_FAILURES):
        ended = [row.body for row in store.rows(run.run_id, types=("run_finished",))]
        kind = str((ended[-1].get("code") or ended[-1].get("error") or run.status) if ended else run.status)
        kinds[kind] += 1
        example.setdefault(kind, str(ended[-1].get("error") or "") if ended else "")
    return [
        {"kind": kind, "runs": count, "error": clip(example[kind], 500)} for kind, count in kinds.most_common(_KINDS)
    ]


@in_thread
def list_evaluations(site: Site, _: Request) -> list[dict[str, Any]]:
    """Return the newest evaluations with a report, without their rows."""
    reports = []
    for folder in islice(evaluation_store.evaluations(site.paths.workspace), _MOST_EVALUATIONS):
        try:
            report = folder.report()
        except InputError:  # no report yet
            continue
        reports.append({key: value for key, value in report.items() if key != "rows"} | {"runs": len(report["rows"])})
    return reports


@in_thread
def show_evaluation(site: Site, request: Request) -> dict[str, Any]:
    """Return one evaluation as `goalwright eval show --json` prints it."""
    return evaluation_store.find(site.paths.workspace, request.path_params["evaluation"]).report()
