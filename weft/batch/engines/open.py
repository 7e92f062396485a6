"""Opens the engine that a batch's options ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weft.batch.engines.in_process import InProcess
from weft.batch.limits.dedupe import ReplyCache
from weft.batch.limits.limited_model import CallLimits
from weft.batch.limits.rate_limiter import Rates
from weft.models.budget import Budget
from weft.runs.answers import approve_all

if TYPE_CHECKING:
    from pathlib import Path

    from weft.batch.engine import BatchEngine
    from weft.batch.options import BatchOptions
    from weft.settings.settings import Settings


def open_engine(workspace: Path, settings: Settings, options: BatchOptions) -> BatchEngine:
    """The engine; nothing is started yet."""
    whole = replace(settings, stream_plan=False)  # worker processes give a text only at its end
    if options.cluster is None:
        return in_process(workspace, whole, options)
    from weft.batch.engines.ray.engine import RayEngine

    return RayEngine(in_process(workspace, whole, options), options, options.cluster)


def in_process(workspace: Path, settings: Settings, options: BatchOptions) -> InProcess:
    """An engine that runs goals in this process, within the limits of the options."""
    limits = CallLimits(Rates(options.max_calls, options.rpm, options.tpm))
    budget = Budget(options.max_cost, options.max_tokens)
    engine = InProcess(workspace, settings, limits, budget, ReplyCache() if options.dedupe else None)
    engine.approve = approve_all if options.approve_all else None
    return engine
