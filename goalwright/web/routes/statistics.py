"""The runs of the journal in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.traces.statistics import MOST_DAYS, statistics
from goalwright.web import bodies
from goalwright.web.replies import in_thread

if TYPE_CHECKING:
    from starlette.requests import Request

    from goalwright.web.site import Site


@in_thread
def show_statistics(site: Site, request: Request) -> dict[str, Any]:
    """The runs of the last days, as `trace stats --json` prints them; `indexed` says whether skills are all counted."""
    days = max(1, bodies.number(request, "days", 30, MOST_DAYS))
    store = site.store()
    indexed = store is None or site.catch_up()
    return statistics(store, days) | {"indexed": indexed}
