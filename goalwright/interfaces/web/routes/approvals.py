"""The open requests of runs, and the answers that resume them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.replies import in_thread, json_reply
from goalwright_planner.approvals import Answer
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stored.requests import OpenRequest
    from goalwright.traces.span import Span

_MOST = 1_000
# The runs whose tasks are read for the titles of requests.
_MOST_READ = 20


@in_thread
def list_approvals(site: Site, request: Request) -> list[dict[str, Any]]:
    """Return the open requests as `goalwright approvals --json` prints them, with `run` only those of one run.

    `title` is the title of the task; `failed` counts the tasks that are retried when the run is resumed.
    """
    run = request.query_params.get("run")
    store = site.store()
    if store is None:
        return []
    if next(store.rows_of_all(("approval_asked",)), None) is None:
        return []  # the usual case, without slow imports
    from goalwright.runs.stored.requests import open_requests
    from goalwright.traces.timeline import TYPES, timeline

    requests = open_requests(store, site.paths, site.find(run).run_id if run else None)
    requests = [row for row in requests if row.request.id not in site.work.queued(row.run.run_id)][:_MOST]
    run_ids = list(dict.fromkeys(row.run.run_id for row in requests))[:_MOST_READ]
    spans = {run_id: timeline(store.rows(run_id, types=TYPES)).spans for run_id in run_ids}
    return [row.to_dict() | _about(row, spans.get(row.run.run_id, {})) for row in requests]


def _about(opened: OpenRequest, spans: Mapping[str, Span]) -> dict[str, Any]:
    asking = spans.get(opened.request.task or "")
    failed = sum(span.status == "failed" and span.replaced_by is None for span in spans.values())
    return {"title": (asking.item or asking.title) if asking is not None else "", "failed": failed}


async def answer(site: Site, request: Request) -> Response:
    """Answer requests of a run; it is resumed at once, or when its other tasks have ended."""
    answers = [_answer(row) for row in await bodies.rows(request)]
    run_id = (await asyncio.to_thread(site.find, request.path_params["run"])).run_id
    if not answers:
        raise InputError("there is no answer", hint='send [{"id": "…", "decision": "allow"}]')
    goalwright = await asyncio.to_thread(_runtime, site, run_id)
    if site.work.holds(run_id):
        by_request = await asyncio.to_thread(_by_request, site, run_id, answers)
        if site.work.queue(run_id, by_request, partial(goalwright.resume, run_id)):  # else it has just ended
            return json_reply({"run_id": run_id, "queued": True}, 202)
    return json_reply({"run_id": await site.work.begin(partial(goalwright.resume, run_id, answers=answers))}, 202)


def _runtime(site: Site, run_id: str) -> Goalwright:
    from goalwright.interfaces.web.routes.steer import runtime_of  # slow to import; most pages only list

    return runtime_of(site, run_id, {})


def _by_request(site: Site, run_id: str, answers: list[tuple[str, Answer]]) -> dict[str, Answer]:
    """Return answers by request id; raise if one matches no request of this run or is invalid."""
    from goalwright.runs.stored.requests import AnsweredAlready, asked_by, find_request
    from goalwright_executor.approvals.record import ApprovalRecord

    requests = asked_by(site.reading(), site.paths, run_id).get(run_id, ApprovalRecord())
    by_request: dict[str, Answer] = {}
    for name, answer in answers:
        try:
            request = find_request(name, requests)
        except InputError as error:
            raise type(error)(error.message, hint="the run's page lists what it waits for") from error
        if request.id in by_request:
            raise AnsweredAlready(f"{request.id} is answered twice", hint="send one answer to each request")
        by_request[request.id] = answer
        if (fault := answer.fault(request)) is not None:
            raise InputError(f"{name}: {fault}", hint="see docs/serve.md")
    return by_request


def _answer(row: Any) -> tuple[str, Answer]:
    if not isinstance(row, dict):
        raise InputError("an answer must be an object", hint='send [{"id": "…", "decision": "allow"}]')
    bodies.check_keys(row, ("id", "decision", "note", "arguments", "text"))
    arguments = bodies.mapping(row, "arguments") if row.get("arguments") is not None else None
    text = bodies.text(row, "text")
    decision: Any = bodies.text(row, "decision") or ("answer" if text else "allow")
    return bodies.text(row, "id"), Answer(decision, bodies.text(row, "note"), arguments, text, by="page")
