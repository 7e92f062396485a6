"""A run as OpenTelemetry spans, by the conventions for generative AI, sent as OTLP over HTTP."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from executor.capture.secrets import Secrets
from skills.errors import InputError, WeftError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from executor.stores.row import Row

_ENDPOINT = "http://localhost:4318"
_SECONDS = 10.0


class NotSent(WeftError):
    """The collector did not take the spans."""

    code = "NOT_SENT"


def send(rows: Iterable[Row], *, content: bool = False, env: Mapping[str, str] = os.environ) -> int:
    """Send a run's spans to the collector that the environment names; how many there were."""
    made = spans(list(rows), content=content)
    base = env.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _ENDPOINT
    url = env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or f"{base.rstrip('/')}/v1/traces"
    if not url.startswith(("http://", "https://")):
        raise InputError(f"the OTLP endpoint {url} is no web address", hint="set OTEL_EXPORTER_OTLP_ENDPOINT")
    resource = {"attributes": _attributes({"service.name": env.get("OTEL_SERVICE_NAME") or "weft"})}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "weft"}, "spans": made}]}]}
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url, json.dumps(document).encode(), {"content-type": "application/json", **_headers(env)}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            return len(made)
    except (OSError, ValueError, http.client.HTTPException) as error:
        what = Secrets.of(env).redact(f"{url} did not take the spans: {error}")
        raise NotSent(what, hint="is a collector listening there, and are OTEL_EXPORTER_OTLP_* right?") from error


def _headers(env: Mapping[str, str]) -> dict[str, str]:
    """The headers that the environment names, in the form of OpenTelemetry: `a=1,b=2`, values percent-encoded."""
    pairs = [pair.split("=", 1) for pair in env.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",") if "=" in pair]
    return {name.strip(): unquote(value.strip()) for name, value in pairs}


def spans(rows: list[Row], *, content: bool = False) -> list[dict[str, Any]]:
    """A run's spans: the workflow, the plan, an agent for each task, each call of a model and of a tool."""
    maker = _Maker(rows[0].run_id, content=content)
    for row in rows:
        maker.note(row)
    return maker.finish()


class _Maker:
    def __init__(self, run_id: str, *, content: bool) -> None:
        self._run_id = run_id
        self._content = content
        self._spans: list[dict[str, Any]] = []
        self._root: dict[str, Any] = {}
        self._failure: str | None = None
        self._begun: datetime | None = None
        self._last: datetime | None = None
        self._planning: datetime | None = None
        self._planned = False
        self._tasks: dict[str, dict[str, Any]] = {}
        self._open: dict[str, datetime] = {}
        self._sittings: dict[str, int] = {}
        self._prompts: dict[str, list[Any]] = {}

    def note(self, row: Row) -> None:
        at, body = datetime.fromisoformat(row.at), row.body
        match row.type:
            case "run_started":
                self._begun = at
                self._root = {"gen_ai.operation.name": "invoke_workflow", "weft.run_id": self._run_id}
                if self._content:
                    self._root["gen_ai.input.messages"] = body["goal"]
            case "run_resumed":
                self._interrupt()
            case "plan_made":
                self._tasks = {task["id"]: task for task in body["plan"]["tasks"]}
                self._plan(at)
            case "task_started":
                self._open[body["task"]] = at
                self._sittings[body["task"]] = self._sittings.get(body["task"], 0) + 1
            case "task_finished":
                self._task(body, at)
            case "call_started":
                self._prompts[body.get("request", "")] = body["messages"]
                if body["role"] == "decomposer":
                    self._planning = self._planning or at
            case "call_finished" | "call_failed":
                self._call(body, at)
            case "tool_called":
                self._tool(row.seq, body, at)
            case "run_finished":
                self._root["weft.status"] = body["status"]
                self._failure = body.get("error") or "" if body["status"] == "failed" else None
            case _:
                pass
        self._last = at

    def finish(self) -> list[dict[str, Any]]:
        """All spans, the whole run's first; what has no end on record ends with the record."""
        self._interrupt()
        end = self._last or datetime.now(UTC)
        if not self._planned and self._planning is not None:
            self._plan(end)
            _fail(self._spans[-1], self._failure or "interrupted")
        whole = self._span("run", "invoke_workflow weft", self._begun or end, end, self._root)
        if self._failure is not None:
            _fail(whole, self._failure)
        return [whole, *self._spans]

    def _interrupt(self) -> None:
        """Close the tasks that the end of a sitting found at work."""
        for name in list(self._open):
            if self._last is not None:
                self._task({"task": name, "status": "failed", "error": "interrupted"}, self._last)

    def _plan(self, at: datetime) -> None:
        if self._planning is not None and not self._planned:
            own = {"gen_ai.operation.name": "plan", "weft.plan.tasks": len(self._tasks)}
            self._add("plan", "plan", self._planning, at, own)
            self._planned = True

    def _task(self, body: Mapping[str, Any], at: datetime) -> None:
        name, task = body["task"], self._tasks.get(body["task"], {})
        agent = task.get("name") or name
        own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent, "weft.task": name}
        if self._content and body.get("output"):
            own["gen_ai.output.messages"] = body["output"]
        begun = self._open.pop(name, at)
        span = self._add(self._key(name), f"invoke_agent {agent}", begun, at, own)
        if body["status"] == "failed":
            _fail(span, body.get("error") or "")

    def _key(self, task: str) -> str:
        """What a task's span is known by: it has one for each time that it began."""
        return f"task {task} {self._sittings.get(task, 0)}"

    def _call(self, body: Mapping[str, Any], at: datetime) -> None:
        own: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": body["model"]}
        reply = body.get("reply")
        if reply is not None:
            own |= {
                "gen_ai.response.model": reply["model"] or body["model"],
                "gen_ai.response.finish_reasons": [reply["finish"]],
                "gen_ai.usage.input_tokens": reply["usage"]["prompt_tokens"],
                "gen_ai.usage.output_tokens": reply["usage"]["completion_tokens"],
            }
        if self._content:
            messages = self._prompts.get(body.get("request", ""), [])
            own["gen_ai.input.messages"] = json.dumps(messages, ensure_ascii=False)
            own |= {"gen_ai.output.messages": reply["text"]} if reply is not None else {}
        begun = at - timedelta(seconds=body["seconds"])
        key = f"call {body.get('request')} {at}"
        span = self._add(key, f"chat {body['model']}", begun, at, own, self._parent(body), kind=3)
        if reply is None:
            _fail(span, body["error"])

    def _tool(self, seq: int, body: Mapping[str, Any], at: datetime) -> None:
        envelope = body["envelope"]
        own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": body["name"]}
        if self._content:
            own["gen_ai.tool.call.result"] = envelope["text"]
        begun = at - timedelta(milliseconds=envelope["stats"]["time_ms"])
        span = self._add(f"tool {seq}", f"execute_tool {body['name']}", begun, at, own, self._parent(body))
        if envelope["status"] == "error":
            _fail(span, envelope["error"]["message"])

    def _parent(self, body: Mapping[str, Any]) -> str:
        if body.get("task"):
            return self._key(body["task"])
        return "plan" if body.get("role") == "decomposer" else "run"

    def _add(
        self,
        key: str,
        name: str,
        begun: datetime,
        at: datetime,
        own: Mapping[str, Any],
        parent: str = "run",
        kind: int = 1,
    ) -> dict[str, Any]:
        span = self._span(key, name, begun, at, own) | {"parentSpanId": self._id(parent, 16), "kind": kind}
        self._spans.append(span)
        return span

    def _span(self, key: str, name: str, begun: datetime, at: datetime, own: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "traceId": self._id("", 32),
            "spanId": self._id(key, 16),
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(int(begun.timestamp() * 1e9)),
            "endTimeUnixNano": str(int(at.timestamp() * 1e9)),
            "attributes": _attributes(own),
        }

    def _id(self, key: str, length: int) -> str:
        return hashlib.sha256(f"{self._run_id} {key}".encode()).hexdigest()[:length]


def _fail(span: dict[str, Any], message: str) -> None:
    span["status"] = {"code": 2, "message": message}


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case _:
            return {"stringValue": str(value)}
