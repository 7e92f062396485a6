"""Evaluations, as their folders have them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright.evaluation import store
from goalwright.interfaces.web.replies import in_thread
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from starlette.requests import Request

    from goalwright.interfaces.web.site import Site

_MOST = 100


@in_thread
def list_evaluations(site: Site, _: Request) -> list[dict[str, Any]]:
    """The newest evaluations that have a report, without their rows."""
    found = []
    for folder in islice(store.evaluations(site.paths.workspace), _MOST):
        try:
            report = folder.report()
        except InputError:  # it has none yet
            continue
        found.append({key: value for key, value in report.items() if key != "rows"} | {"runs": len(report["rows"])})
    return found


@in_thread
def show_evaluation(site: Site, request: Request) -> dict[str, Any]:
    """One evaluation, as `goalwright eval show --json` prints it."""
    return store.find(site.paths.workspace, request.path_params["evaluation"]).report()
