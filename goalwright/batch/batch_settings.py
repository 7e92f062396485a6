"""The settings of a batch, where they differ from those of a single goal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright.settings.resolve import Resolved
    from goalwright.settings.settings import Settings

# Nobody waits at a terminal: a provider that asks for fewer calls gets ten minutes.
RETRY_PATIENCE = 600.0


def batch_settings(resolved: Resolved) -> Settings:
    """The settings of a batch: it waits longer for a busy provider and changes no plans, unless these are set."""
    own = {"retry_patience": RETRY_PATIENCE, "max_replans": 0}
    return replace(resolved.settings, **{key: own[key] for key in own if key not in resolved.origins})  # type: ignore[arg-type]
