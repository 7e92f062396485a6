"""What the settings of a workspace may do before the user trusts it: name models, lower limits, ask more often."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.settings import skill_lists
from goalwright_executor.approvals.policy import MODES
from goalwright_skills.text.model_names import carries_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright.settings.paths import Paths

# Settings that change when something happens, not what may happen.
_HARMLESS = ("stream_plan",)
# Switches that let something be asked of a model; the others are checks.
_ASKING = ("translate_goals",)
MODELS = ("model", "fallback", "decomposer", "task", "synthesis", "detector_model", "checker", "judge", "models")
TEMPLATES = Path(".agents") / "seed"


def is_trusted(paths: Paths) -> bool:
    """Whether the user trusts the workspace's settings and templates as they are now."""
    if paths.sent_trust is not None or not paths.trust.is_file():
        return False
    from goalwright_skills.programs.trust import Trust  # slow to import, and few users have trusted anything

    return Trust(paths.trust).trusts_workspace(paths.workspace)


def has_templates(workspace: Path) -> bool:
    """Whether a workspace brings templates of its own, which are code."""
    return (workspace / TEMPLATES).is_dir()


def refused(
    values: Mapping[str, Any], users: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Each setting of an untrusted workspace that does not count, with the reason; `users` are the user's own."""
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
            # It would put a stranger's instructions into every plan, and ask models again for those without.
            yield name, "and may not say what every plan must use"
        elif name not in _HARMLESS and _loosens(value, limit := users.get(name, defaults[name])):
            yield name, f"and may only lower it from {limit:g}" if type(limit) is not bool else "and may not unset it"


def names_in(value: Any) -> tuple[str, ...]:
    """The models that a setting names: one, several in order, or several by their names."""
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
    """Whether a value allows more than the user does: a higher number, or a check that is switched off."""
    if isinstance(limit, bool):
        return limit and not value
    return isinstance(value, int | float) and isinstance(limit, int | float) and value > limit
