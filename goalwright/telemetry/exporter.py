"""Sends each run as spans when it ends, where the settings ask for it."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright.telemetry import otlp
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from goalwright_executor.stores.row import Row

# How long a collector that failed is left alone, in seconds: the runs of a batch end without waiting for it.
_PAUSE = 60.0


@dataclass(slots=True)
class SpanExporter:
    """Sends runs to the collector that the environment names, if it names one."""

    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.monotonic
    _paused_until: float = 0.0

    async def send(self, rows: Callable[[], Iterable[Row]]) -> str | None:
        """Send a run; returns what went wrong, once for all runs within a minute."""
        problem = await self._sent(lambda: otlp.send(rows(), env=self.env))
        return f"{problem}; `goalwright trace export --otlp` sends the run later" if problem else None

    async def send_spans(self, spans: list[dict[str, Any]]) -> str | None:
        """Send spans that are made already; returns what went wrong."""
        return await self._sent(lambda: otlp.send_spans(spans, env=self.env))

    async def _sent(self, send: Callable[[], object]) -> str | None:
        if not otlp.is_configured(self.env) or self.clock() < self._paused_until:
            return None
        try:
            await asyncio.to_thread(send)
        except GoalwrightError as error:
            self._paused_until = self.clock() + _PAUSE
            return error.message
        return None
