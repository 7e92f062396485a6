"""The settings that an untrusted workspace or record may change: models, lower limits, stricter approvals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.settings import skill_lists
from goalwright_executor.approvals.policy import MODES
from goalwright_skills.errors import InputError
from goalwright_skills.text.untrusted import carries_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings

# Settings that only change the order of steps.
_HARMLESS = ("stream_plan",)
# Switches that permit calls to a model; all other switches are checks.
_ASKING = ("translate_goals",)
MODELS = ("model", "fallback", "decomposer", "task", "synthesis", "detector_model", "checker", "judge", "models")
TEMPLATES = Path(".agents") / "seed"


class UntrustedRecord(InputError):
    """A recorded run needs the workspace to be trusted before it can continue."""


def is_trusted(paths: Paths) -> bool:
    """Whether the user trusts the workspace's settings and templates in their current form."""
    if paths.sent_trust is not None or not paths.trust.is_file():
        return False
    from goalwright_skills.programs.trust import Trust  # slow to import, and few users have trusted anything

    return Trust(paths.trust).trusts_workspace(paths.workspace)


def has_templates(workspace: Path) -> bool:
    """Whether a workspace has its own templates, which are code."""
    return (workspace / TEMPLATES).is_dir()


def refused(
    values: Mapping[str, Any], users: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield each ignored setting of an untrusted workspace with the reason; `users` are the user's own settings."""
    for name, value in values.items():
        if name in MODELS:
            if any(map(carries_address, names_in(value))):
                yield name, "and may not name a model by an address"
        elif name == "approve":
            mode = users.get(name, defaults[name])
            if MODES.index(value) < MODES.index(mode):
                yield name, f"and may not ask less often than {mode!r}"
        elif name in _ASKING:
            if value and not users.get(name, defaults[name]):
                yield name, "and may not set it"
        elif name == skill_lists.REQUIRE:
            # It would put a stranger's instructions into every plan, and reject plans without them.
            yield name, "and may not say what every plan must use"
        elif name not in _HARMLESS and _loosens(value, limit := users.get(name, defaults[name])):
            yield name, f"and may only lower it from {limit:g}" if type(limit) is not bool else "and may not unset it"


def names_in(value: Any) -> tuple[str, ...]:
    """The models that a setting names."""
    match value:
        case None:
            return ()
        case str():
            return (value,)
        case dict():
            return tuple(value.values())
        case _:
            return tuple(value)


def _loosens(value: Any, limit: Any) -> bool:
    """Whether a value allows more than the user's: a higher number, or a disabled check."""
    if isinstance(limit, bool):
        return limit and not value
    return isinstance(value, int | float) and isinstance(limit, int | float) and value > limit


def check_recorded(recorded: Settings, now: Settings, paths: Paths) -> None:
    """Raise if an untrusted record has a model's address or templates."""
    if is_trusted(paths):
        return
    own = set(_model_names(now))
    if addresses := [name for name in _model_names(recorded) if carries_address(name) and name not in own]:
        raise UntrustedRecord(
            f"the run was recorded with a model that is named by an address: {addresses[0]}",
            hint="trust this workspace if you know the address, or choose another model",
        )
    if recorded.seed and recorded.seed != now.seed:
        folder = (paths.workspace / Path(recorded.seed).expanduser()).resolve()
        if folder.is_relative_to(paths.workspace):
            raise UntrustedRecord(
                f"the run was recorded with templates of this workspace, which is not trusted: {folder}",
                hint="read them, then trust this workspace",
            )


def _model_names(settings: Settings) -> tuple[str, ...]:
    return tuple(name for setting in MODELS for name in names_in(getattr(settings, setting)) if name)
