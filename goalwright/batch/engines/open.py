"""Opens the engine that a batch's options ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright.batch.engines.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright.batch.engine import BatchEngine
    from goalwright.batch.options import BatchOptions
    from goalwright.settings.settings import Settings


def open_engine(
    workspace: Path, settings: Settings, options: BatchOptions, flags: Mapping[str, Any] | None = None
) -> BatchEngine:
    """The engine; nothing is started yet. `flags` are the settings that beat those of every machine."""
    whole = replace(settings, stream_plan=False)  # worker processes give a text only at its end
    if options.cluster is None:
        return InProcess.of(workspace, whole, options)
    from goalwright.batch.engines.ray.engine import RayEngine

    return RayEngine(InProcess.of(workspace, whole, options), options, options.cluster, flags or {})
