"""Sends each run as spans when it ends, if the setting `send_spans` is on."""

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

# Seconds without requests after a failure, so that the runs of a batch do not wait for the collector.
_PAUSE = 60.0


@dataclass(slots=True)
class SpanExporter:
    """Sends runs to the collector in the environment variables, if there is one."""

    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.monotonic
    _paused_until: float = 0.0

    async def send(self, rows: Callable[[], Iterable[Row]]) -> str | None:
        """Send a run; returns an error message, once a minute at most."""
        problem = await self._sent(lambda: otlp.send(rows(), env=self.env))
        return f"{problem}; export its trace later to send it" if problem else None

    async def send_spans(self, spans: list[dict[str, Any]]) -> str | None:
        """Send spans; returns an error message."""
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
