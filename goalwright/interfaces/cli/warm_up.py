"""Load models early: in the shared process for a terminal, else in this process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from goalwright.models.open import OpenModel
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings


def begin(settings: Settings, paths: Paths) -> OpenModel | None:
    """Start loading litellm, which takes seconds; returns how to open models in the shared process, or None."""
    from goalwright.models.call_process.shared import SharedProcess, is_wanted
    from goalwright.models.choice import ModelChoice
    from goalwright.models.litellm import lifecycle

    terminal, names = sys.stdin.isatty() and sys.stderr.isatty(), tuple[str, ...]()
    with suppress(SetupError):  # a plan of tools needs no model
        names = ModelChoice(settings).names if terminal else ()
    if is_wanted(settings, names, os.environ, terminal=terminal):
        process = SharedProcess(settings, paths.cache)
        if process.start():
            return process.opener()
    lifecycle.preload()
    return None


def check_keys(settings: Settings) -> None:
    """Raise if a model named in the settings has no key."""
    from goalwright.models.model_check import check_names

    if settings.api_base is None:  # a gateway may need no key or its own key
        named = (settings.model, settings.decomposer, settings.task, settings.synthesis)
        check_names((name for name in named if name), os.environ)
