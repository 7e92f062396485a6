"""The settings that a batch's command line gave, as its workers follow them on other machines."""

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


# What every worker is told anyway, or what makes no difference there.
_NOT_SENT = frozenset({"journal", "stream_plan"})
# What holds on every machine, wherever the batch has it from.
_ALWAYS_SENT = frozenset({"skills_require"})
# What only a machine's own user decides.
_GUARDED = frozenset(one.name for one in fields(Settings) if one.metadata["guarded"] or one.metadata["own"])


def flags_for_workers(given: Iterable[str], settings: Settings) -> dict[str, Any]:
    """The `given` settings as workers must have them; with a model, all models: a role's own would replace it."""
    names = set(given) - _NOT_SENT | {name for name in _ALWAYS_SENT if getattr(settings, name)}
    if not names.isdisjoint(MODELS):
        names |= set(MODELS)
    return {name: getattr(settings, name) for name in sorted(names)}


def follow(flags: Mapping[str, Any], own: Settings) -> Settings:
    """A machine's own settings with the flags of the batch; raises if one is for its user alone to set."""
    for name in sorted(_GUARDED.intersection(flags)):
        if not _allows(getattr(own, name), flags[name]):
            option = "--" + name.replace("_", "-")
            raise BundleRefused(
                f"the batch was started with {option}, which only this machine's own settings can allow",
                hint=f"set `{name}` in its config.toml, or start the batch without {option}",
            )
    return replace(own, **{name: value for name, value in flags.items() if name not in _GUARDED})


def check_goal(goal: BatchGoal, own: Settings) -> None:
    """Raise if a goal has settings that are for a machine's user alone to set, or files that only its sender has."""
    follow(goal.settings, own)
    if goal.files or goal.settings.get("skills_dir"):
        raise BundleRefused(
            "files and folders that a goal brings are not sent to other machines",
            hint="put them into the workspace and name them in the goal, or leave --address out",
        )


def _allows(own: Any, wanted: Any) -> bool:
    """Whether a machine's own value is what a flag asks for, or has all that it names."""
    return set(wanted) <= set(own) if isinstance(wanted, tuple) else bool(own == wanted)
