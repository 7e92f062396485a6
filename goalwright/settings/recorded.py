"""What the recorded settings of a run may do before the user trusts its workspace: a record may be a stranger's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.settings.untrusted import MODELS, is_trusted, names_in
from goalwright_skills.errors import InputError
from goalwright_skills.text.model_names import carries_address

if TYPE_CHECKING:
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings


def check_recorded(recorded: Settings, now: Settings, paths: Paths) -> None:
    """Raise if a run's record, which may be a stranger's, brings an address or templates that are not trusted."""
    if is_trusted(paths):
        return
    own = set(_model_names(now))
    if addresses := [name for name in _model_names(recorded) if carries_address(name) and name not in own]:
        raise InputError(
            f"the run was recorded with a model that is named by an address: {addresses[0]}",
            hint="if you know it, pass --trust; else name another model with --model",
        )
    if recorded.seed and recorded.seed != now.seed:
        folder = (paths.workspace / Path(recorded.seed).expanduser()).resolve()
        if folder.is_relative_to(paths.workspace):
            raise InputError(
                f"the run was recorded with templates of this workspace, which is not trusted: {folder}",
                hint="read them, then pass --trust",
            )


def _model_names(settings: Settings) -> tuple[str, ...]:
    return tuple(name for setting in MODELS for name in names_in(getattr(settings, setting)) if name)
