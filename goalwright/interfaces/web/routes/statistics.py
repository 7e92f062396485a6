"""The runs of the journal in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.replies import in_thread
from goalwright.traces.statistics import MOST_DAYS, statistics

if TYPE_CHECKING:
    from starlette.requests import Request

    from goalwright.interfaces.web.site import Site


@in_thread
def show_statistics(site: Site, request: Request) -> dict[str, Any]:
    """The runs of the last days, as `trace stats --json` prints them; `indexed` says whether skills are all counted."""
    days = max(1, bodies.number(request, "days", 30, MOST_DAYS))
    store = site.store()
    indexed = store is None or site.catch_up()
    return statistics(store, days) | {"indexed": indexed}
