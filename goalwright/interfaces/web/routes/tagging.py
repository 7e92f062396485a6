"""Tags and notes of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.replies import json_reply
from goalwright.traces import tagging

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright_executor.stores.row import RunSummary


async def set_tags(site: Site, request: Request) -> Response:
    """Give a run these tags, in place of those that it has."""
    tags = bodies.texts(await bodies.document(request, "tags"), "tags")
    run = site.find(request.path_params["run"])
    return json_reply(_shape(await tagging.retag(site.journal(), site.paths, run.run_id, lambda _: tags)))


async def set_note(site: Site, request: Request) -> Response:
    """Write a note about a run, in place of an earlier one."""
    note = bodies.text(await bodies.document(request, "note"), "note")
    run = site.find(request.path_params["run"])
    return json_reply(_shape(await tagging.write_note(site.journal(), site.paths, run.run_id, note)))


def _shape(run: RunSummary) -> dict[str, Any]:
    return {"run_id": run.run_id, "tags": list(run.tags), "note": run.note}
