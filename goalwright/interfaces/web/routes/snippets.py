"""Where the words of a search stand in the runs that it found."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.replies import in_thread
from goalwright.runs.stored import records
from goalwright_executor.stores.errors import UnknownRun
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from starlette.requests import Request

    from goalwright.interfaces.web.site import Site

_MOST = 100
# How long a request reads runs, in seconds; those that are left have no snippet.
_SECONDS = 1.0


@in_thread
def show_snippets(site: Site, request: Request) -> dict[str, Any]:
    """A piece of text of each `run`, in which words of `q` stand that its line in the list does not show."""
    from goalwright_executor.history.snippets import snippet

    runs = request.query_params.getlist("run")
    if len(runs) > _MOST:
        raise InputError(f"snippets of {len(runs)} runs were asked for", hint=f"ask for {_MOST} at most")
    search = request.query_params.get("q", "")[: bodies.BODY]
    until = time.monotonic() + _SECONDS
    found: dict[str, Any] = {}
    for run_id in runs:
        if time.monotonic() > until:
            break
        try:
            local = partial(records.local_text, run_id=run_id, paths=site.paths)
            made = snippet(site.reading(), site.find(run_id), search, local)
        except UnknownRun:
            continue  # deleted meanwhile
        if made is not None:
            found[run_id] = made.to_dict()
    return {"snippets": found}
