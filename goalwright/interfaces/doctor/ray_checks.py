"""The checks of `goalwright doctor --engine ray`; Ray is not imported, so nothing is started."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from goalwright.interfaces.doctor.checks import Check
from goalwright.runs.stored import records
from goalwright.settings.ray_security import token_is_set
from goalwright_executor.stores.urls import without_password

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings


def run_ray_checks(paths: Paths, settings: Settings, env: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks for `goalwright batch --engine ray`, on this machine and on a cluster."""
    for package in ("ray", "psycopg"):
        try:
            yield Check("ray", True, f"{package} {version(package)}")
        except PackageNotFoundError:
            # Ray runs on this machine without psycopg.
            ok = False if package == "ray" else None
            yield Check("ray", ok, f"{package} is not installed", "pip install 'goalwright[ray]'")
    url = records.url(paths, settings)
    if url.startswith("sqlite:"):
        found = f"the journal {url} is a file: goals run in workers on this machine alone"
        yield Check(
            "ray", None, found, "for a cluster, keep it in PostgreSQL: --journal postgresql://user@host/database"
        )
    else:
        yield Check("ray", True, f"the journal {without_password(url)} can be shared by a cluster")
    if token_is_set(env):
        yield Check("ray", True, "token authentication is on")
    else:
        found = "token authentication is off: anyone who reaches the ports of a cluster can run code on it"
        remedy = "set RAY_AUTH_MODE=token on every node; without it, goalwright uses no cluster of other machines"
        yield Check("ray", None, found, remedy)
    keys = sorted(name for name, value in env.items() if name.endswith("_API_KEY") and value)
    found = f"workers here have {', '.join(keys)}" if keys else "workers here would have no provider key"
    yield Check("ray", None, f"{found}; each node of a cluster needs its own, in its environment")
