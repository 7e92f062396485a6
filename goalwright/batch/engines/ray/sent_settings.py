"""The requirements of a cluster, and the settings that a batch sends to its workers."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from goalwright.batch.bundle.archive import BundleRefused
from goalwright.runs.stored import records
from goalwright.settings.settings import Settings
from goalwright.settings.untrusted import MODELS
from goalwright_executor.stores.urls import without_password
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goalwright.batch.goals import BatchGoal
    from goalwright.batch.options import ClusterOptions
    from goalwright.runs.runtime import Goalwright


def check_requirements(goalwright: Goalwright, where: ClusterOptions) -> None:
    """Raise if the batch cannot run on that cluster."""
    url = records.url(goalwright.paths, goalwright.settings)
    if where.address is not None and url.startswith("sqlite:"):
        raise InputError(
            f"the journal {url} is a file on this machine, but all workers of a cluster must reach the journal",
            hint="keep it in PostgreSQL (journal = postgresql://user@host/database, see docs/cluster.md), "
            "or run the batch on this machine alone",
        )
    if where.address is not None and without_password(url) != url.replace(":@", "@"):
        raise InputError(
            "the journal's URL has a password, which would be sent through the cluster",
            hint="remove it from the URL, and set PGPASSWORD or PGPASSFILE on every node",
        )
    if find_spec("ray") is None:
        raise SetupError("the engine 'ray' needs Ray, which is not installed", hint="pip install 'goalwright[ray]'")


def journal_for_workers(goalwright: Goalwright) -> str | None:
    """Return the URL of the journal if it is set, independent of the workers' folders."""
    return records.url(goalwright.paths, goalwright.settings) if goalwright.settings.journal else None


# Settings that workers get otherwise, or that do not matter there.
_NOT_SENT = frozenset({"journal", "stream_plan"})
# Settings that apply on every machine, wherever the batch has them from.
_ALWAYS_SENT = frozenset({"skills_require"})
# Settings that only a machine's own user decides.
_GUARDED = frozenset(row.name for row in fields(Settings) if row.metadata["guarded"] or row.metadata["own"])


def flags_for_workers(given: Iterable[str], settings: Settings) -> dict[str, Any]:
    """Return the explicitly `given` settings; with a model, all models, because a role's own would override it."""
    names = set(given) - _NOT_SENT | {name for name in _ALWAYS_SENT if getattr(settings, name)}
    if not names.isdisjoint(MODELS):
        names |= set(MODELS)
    return {name: getattr(settings, name) for name in sorted(names)}


def follow(flags: Mapping[str, Any], own: Settings) -> Settings:
    """Override a machine's own settings with the batch's flags; raises if one is reserved for its user."""
    for name in sorted(_GUARDED.intersection(flags)):
        if not _allows(getattr(own, name), flags[name]):
            raise BundleRefused(
                f"the batch sets {name}, which only this machine's own settings can allow",
                hint=f"set `{name}` in the config.toml of this machine, or start the batch without it",
            )
    return replace(own, **{name: value for name, value in flags.items() if name not in _GUARDED})


def check_goal(goal: BatchGoal, own: Settings) -> None:
    """Raise if a goal has settings reserved for a machine's user, or files of its sender."""
    follow(goal.settings, own)
    if goal.files or goal.settings.get("skills_dir"):
        raise BundleRefused(
            "files and folders attached to a goal are not sent to other machines",
            hint="put them in the workspace and name them in the goal, or run the batch on this machine alone",
        )


def _allows(own: Any, value: Any) -> bool:
    """Whether a machine's own value equals or includes what a flag asks for."""
    return set(value) <= set(own) if isinstance(value, tuple) else bool(own == value)
