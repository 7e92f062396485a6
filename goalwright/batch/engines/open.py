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
    """Return the engine, with nothing started yet; `flags` are the settings that override those of every machine."""
    settings = replace(settings, stream_plan=False)  # worker processes return texts only as a whole
    if options.cluster is None:
        return InProcess.of(workspace, settings, options)
    from goalwright.batch.engines.ray.engine import RayEngine

    return RayEngine(InProcess.of(workspace, settings, options), options, options.cluster, flags or {})
