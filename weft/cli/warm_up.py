"""How a command opens models: through the helper if a person waits at a terminal, else in this process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.models.open import OpenModel
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings


def begin(settings: Settings, paths: Paths) -> OpenModel | None:
    """Start loading litellm, which takes seconds, in the helper or here; None opens models as usual."""
    from weft.models.choice import ModelChoice
    from weft.models.warm.model import Helper, is_wanted
    from weft.providers import litellm_model

    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if is_wanted(settings, ModelChoice(settings).names if terminal else (), os.environ, terminal=terminal):
        helper = Helper(settings, paths.cache)
        if helper.begin():
            return helper.opener()
    litellm_model.preload()
    return None
