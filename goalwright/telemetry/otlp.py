"""Sends spans as OTLP over HTTP, on request or at the end of each run."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import time
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from goalwright.telemetry.spans import attribute_list, run_spans
from goalwright_executor.capture.secrets import Secrets
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from goalwright_executor.stores.row import Row


_ENDPOINT = "http://localhost:4318"
_TIMEOUT = 10.0  # seconds
_ANSWER_LIMIT = 65_536


class NotSent(GoalwrightError):
    """The collector did not accept the spans."""

    code = "NOT_SENT"


def is_configured(env: Mapping[str, str]) -> bool:
    """Return whether the environment names a collector."""
    return bool(env.get("OTEL_EXPORTER_OTLP_ENDPOINT") or env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))


def send(rows: Iterable[Row], *, content: bool = False, env: Mapping[str, str] = os.environ) -> int:
    """Send a run's spans to the collector in the environment; returns their number."""
    _address(env)  # validate it before reading the rows
    return send_spans(run_spans(list(rows), content=content), env=env)


def send_spans(span_list: list[dict[str, Any]], *, env: Mapping[str, str] = os.environ) -> int:
    """Send spans to the collector in the environment; returns their number."""
    url = _address(env)
    attributes = _pairs(env.get("OTEL_RESOURCE_ATTRIBUTES", ""))
    name = env.get("OTEL_SERVICE_NAME") or attributes.get("service.name") or "goalwright"
    resource = {"attributes": attribute_list(attributes | {"service.name": name})}
    document = {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "goalwright"}, "spans": span_list}]}]
    }
    try:
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            url, json.dumps(document).encode(), {"content-type": "application/json", **_headers(env)}
        )
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT) as answer:
            refused = _refused(answer.read(_ANSWER_LIMIT))
    except (OSError, ValueError, http.client.HTTPException) as error:
        message = Secrets.of(env).redact(f"{url} did not accept the spans: {error}")
        hint = "check that a collector is listening there, and the OTEL_EXPORTER_OTLP_* variables"
        raise NotSent(message, hint=hint) from error
    if refused:
        raise NotSent(
            Secrets.of(env).redact(f"{url} refused {refused} of {len(span_list)} spans"),
            hint="see its log for the reason",
        )
    return len(span_list)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Ignores redirects, which would send the headers to another address."""

    def redirect_request(self, *_: Any) -> None:
        """Return no request."""


def _refused(answer: bytes) -> int:
    """Return how many spans the collector rejected."""
    try:
        return max(0, int(json.loads(answer)["partialSuccess"]["rejectedSpans"]))
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return 0  # most answers are empty


def _address(env: Mapping[str, str]) -> str:
    base = env.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _ENDPOINT
    url = env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or f"{base.rstrip('/')}/v1/traces"
    if not url.startswith(("http://", "https://")):
        raise InputError(f"the OTLP endpoint {url} is not an HTTP URL", hint="set OTEL_EXPORTER_OTLP_ENDPOINT")
    return url


def _headers(env: Mapping[str, str]) -> dict[str, str]:
    return _pairs(env.get("OTEL_EXPORTER_OTLP_HEADERS", ""))


def _pairs(text: str) -> dict[str, str]:
    """Parse a variable in OpenTelemetry's format: `a=1,b=2`, with percent-encoded values."""
    pairs = [pair.split("=", 1) for pair in text.split(",") if "=" in pair]
    return {name.strip(): unquote(value.strip()) for name, value in pairs}


_PAUSE = 60.0  # seconds without requests after a failure, so that a batch does not wait for the collector


@dataclass(slots=True)
class SpanExporter:
    """Sends runs to the collector in the environment variables, if there is one."""

    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.monotonic
    _paused_until: float = 0.0

    async def send(self, rows: Callable[[], Iterable[Row]]) -> str | None:
        """Send a run; returns an error message at most once a minute."""
        problem = await self._sent(lambda: send(rows(), env=self.env))
        return f"{problem}; export its trace later to send it" if problem else None

    async def send_spans(self, spans: list[dict[str, Any]]) -> str | None:
        """Send spans; returns an error message."""
        return await self._sent(lambda: send_spans(spans, env=self.env))

    async def _sent(self, request: Callable[[], object]) -> str | None:
        if not is_configured(self.env) or self.clock() < self._paused_until:
            return None
        try:
            await asyncio.to_thread(request)
        except GoalwrightError as error:
            self._paused_until = self.clock() + _PAUSE
            return error.message
        return None
