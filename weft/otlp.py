"""A run as OpenTelemetry spans, by the conventions for generative AI, sent as OTLP over HTTP."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from skills.errors import InputError, WeftError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from executor.journal.row import Row

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
    headers = dict(pair.split("=", 1) for pair in env.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",") if "=" in pair)
    resource = {"attributes": _attributes({"service.name": env.get("OTEL_SERVICE_NAME") or "weft"})}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "weft"}, "spans": made}]}]}
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url, json.dumps(document).encode(), {"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            return len(made)
    except (urllib.error.URLError, OSError) as error:
        raise NotSent(f"{url} did not take the spans: {error}", hint="is a collector listening there?") from error


def spans(rows: list[Row], *, content: bool = False) -> list[dict[str, Any]]:
    """A run's spans: the workflow, the plan, an agent for each task, each call of a model and of a tool."""
    maker = _Maker(rows[0].run_id, content=content)
    for row in rows:
        maker.note(row)
    return maker.finish(rows[-1])


class _Maker:
    def __init__(self, run_id: str, *, content: bool) -> None:
        self._run_id = run_id
        self._content = content
        self._spans: list[dict[str, Any]] = []
        self._open: dict[str, datetime] = {}
        self._root: dict[str, Any] = {}
        self._begun: datetime | None = None
        self._tasks: dict[str, dict[str, Any]] = {}
        self._prompts: dict[str, list[Any]] = {}

    def note(self, row: Row) -> None:
        at, body = datetime.fromisoformat(row.at), row.body
        match row.type:
            case "run_started":
                self._begun = at
                self._root = {"gen_ai.operation.name": "invoke_workflow", "weft.run_id": self._run_id}
                if self._content:
                    self._root["gen_ai.input.messages"] = body["goal"]
            case "plan_made":
                self._tasks = {task["id"]: task for task in body["plan"]["tasks"]}
                if body["attempts"]:
                    own = {"gen_ai.operation.name": "plan", "weft.plan.tasks": len(self._tasks)}
                    self._add("plan", "plan", self._open.get("decomposer", at), at, own)
            case "task_started":
                self._open[f"task {body['task']}"] = at
            case "task_finished":
                self._task(body, at)
            case "call_started":
                self._prompts[body.get("request", "")] = body["messages"]
                self._open.setdefault(body["role"], at)
            case "call_finished":
                self._call(body, at)
            case "tool_called":
                self._tool(row.seq, body, at)
            case "run_finished":
                self._root["weft.status"] = body["status"]
            case _:
                pass

    def finish(self, last: Row) -> list[dict[str, Any]]:
        end = datetime.fromisoformat(last.at)
        whole = self._span("run", "invoke_workflow weft", self._begun or end, end, self._root)
        return [whole, *self._spans]

    def _task(self, body: Mapping[str, Any], at: datetime) -> None:
        name, task = body["task"], self._tasks.get(body["task"], {})
        agent = task.get("name") or name
        own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent, "weft.task": name}
        if self._content and body.get("output"):
            own["gen_ai.output.messages"] = body["output"]
        begun = self._open.get(f"task {name}", at)
        span = self._add(f"task {name}", f"invoke_agent {agent}", begun, at, own)
        if body["status"] == "failed":
            span["status"] = {"code": 2, "message": body.get("error") or ""}

    def _call(self, body: Mapping[str, Any], at: datetime) -> None:
        reply, usage = body["reply"], body["reply"]["usage"]
        own = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": body["model"],
            "gen_ai.response.model": reply["model"] or body["model"],
            "gen_ai.response.finish_reasons": [reply["finish"]],
            "gen_ai.usage.input_tokens": usage["prompt_tokens"],
            "gen_ai.usage.output_tokens": usage["completion_tokens"],
        }
        if self._content:
            messages = self._prompts.get(body.get("request", ""), [])
            own["gen_ai.input.messages"] = json.dumps(messages, ensure_ascii=False)
            own["gen_ai.output.messages"] = reply["text"]
        begun = at - timedelta(seconds=body["seconds"])
        parent = self._parent(body)
        self._add(f"call {body.get('request')} {at}", f"chat {body['model']}", begun, at, own, parent, kind=3)

    def _tool(self, seq: int, body: Mapping[str, Any], at: datetime) -> None:
        envelope = body["envelope"]
        own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": body["name"]}
        if self._content:
            own["gen_ai.tool.call.result"] = envelope["text"]
        begun = at - timedelta(milliseconds=envelope["stats"]["time_ms"])
        span = self._add(f"tool {seq}", f"execute_tool {body['name']}", begun, at, own, self._parent(body))
        if envelope["status"] == "error":
            span["status"] = {"code": 2, "message": envelope["error"]["message"]}

    def _parent(self, body: Mapping[str, Any]) -> str:
        if body.get("task"):
            return f"task {body['task']}"
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
