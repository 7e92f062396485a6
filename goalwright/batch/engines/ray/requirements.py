"""What must be there before Ray is asked for anything: its package, and a journal that all workers reach."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from goalwright.runs.stored import records
from goalwright_executor.stores.urls import without_password
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from goalwright.batch.options import ClusterOptions
    from goalwright.runs.runtime import Goalwright


def check_requirements(goalwright: Goalwright, where: ClusterOptions) -> None:
    """Raise if the batch cannot run on that cluster."""
    url = records.url(goalwright.paths, goalwright.settings)
    if where.address is not None and url.startswith("sqlite:"):
        raise InputError(
            f"the journal {url} is a file on this machine, and the workers of a cluster need one that they all reach",
            hint="keep it in PostgreSQL: --journal postgresql://user@host/database (see docs/cluster.md), "
            "or leave --address out to run on this machine alone",
        )
    if where.address is not None and without_password(url) != url.replace(":@", "@"):
        raise InputError(
            "the journal's URL has a password, which would travel through the cluster",
            hint="leave it out, and give it to every node with PGPASSWORD or PGPASSFILE",
        )
    if find_spec("ray") is None:
        raise SetupError("--engine ray needs Ray, which is not installed", hint="pip install 'goalwright[ray]'")


def journal_for_workers(goalwright: Goalwright) -> str | None:
    """The journal as workers are told of it: as it is set, whichever folder they run in."""
    return records.url(goalwright.paths, goalwright.settings) if goalwright.settings.journal else None
