"""A run, or the scores of an evaluation, as OpenTelemetry spans by the conventions for generative AI."""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan.task_id import parent_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright_executor.stores.row import Row


def run_spans(rows: list[Row], *, content: bool = False) -> list[dict[str, Any]]:
    """Return a run's spans: the workflow, the plan, an agent for each task, each model call and each tool call."""
    builder = _SpanBuilder(rows[0].run_id, content=content)
    for row in rows:
        builder.note(row)
    return builder.finish()


class _SpanBuilder:
    """Builds spans from a run's rows, in order."""

    def __init__(self, run_id: str, *, content: bool) -> None:
        self._run_id = run_id
        self._content = content
        self._spans: list[dict[str, Any]] = []
        self._root: dict[str, Any] = {}
        self._failure: str | None = None
        self._started: datetime | None = None
        self._last: datetime | None = None
        self._planning_started: datetime | None = None
        self._planned = False
        self._tasks: dict[str, dict[str, Any]] = {}
        self._open: dict[str, datetime] = {}  # running tasks
        self._starts: dict[str, int] = {}  # the number of starts of each task
        self._prompts: dict[str, list[Any]] = {}
        self._broken: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)

    def note(self, row: Row) -> None:
        at, body = datetime.fromisoformat(row.at), row.body
        match row.type:
            case "run_started":
                self._started = at
                self._root = {"gen_ai.operation.name": "invoke_workflow", "goalwright.run_id": self._run_id}
                if body.get("batch"):
                    self._root |= {
                        "goalwright.batch": body["batch"],
                        "goalwright.batch_goal": body.get("batch_goal") or "",
                    }
                if body.get("after"):
                    self._root["goalwright.after"] = body["after"]["run_id"]
                if self._content:
                    self._root["gen_ai.input.messages"] = body["goal"]
            case "run_resumed":
                self._interrupt_tasks()
                self._root.pop("goalwright.status", None)
            case "plan_made":
                early = {name: task for name, task in self._tasks.items() if parent_of(name) is not None}
                self._tasks = early | {task["id"]: task for task in body["plan"]["tasks"]}
                self._end_planning(at)
            case "plan_changed":
                self._tasks |= {task["id"]: task for task in body.get("added", ())}
            case "task_started":
                self._open[body["task"]] = at
                self._starts[body["task"]] = self._starts.get(body["task"], 0) + 1
            case "task_finished":
                self._end_task(body, at)
            case "call_started":
                self._prompts[body.get("request", "")] = body["messages"]
                if body["role"] == "decomposer" and body.get("task") is None:
                    self._planning_started = self._planning_started or at
            case "call_broken":
                self._broken[body.get("request", "")].append(body["usage"])
            case "call_finished" | "call_failed":
                self._add_call(body, at)
            case "tool_called":
                self._add_tool_call(row.seq, body, at)
            case "result_checked":
                self._add_check(row.seq, body, at)
            case "run_finished":
                self._root["goalwright.status"] = body["status"]
                self._failure = body.get("error") or "" if body["status"] == "failed" else None
            case _:
                pass
        self._last = at

    def finish(self) -> list[dict[str, Any]]:
        """Return all spans, the run's first; a span without a recorded end ends with the record."""
        self._interrupt_tasks()
        end = self._last or datetime.now(UTC)
        if not self._planned and self._planning_started is not None:
            self._end_planning(end)
            _fail(self._spans[-1], self._failure or "interrupted")
        root = self._span("run", "invoke_workflow goalwright", self._started or end, end, self._root)
        if self._failure is not None:
            _fail(root, self._failure)
        return [root, *self._spans]

    def _interrupt_tasks(self) -> None:
        """End the tasks that were running when the process stopped, or that wait for the user."""
        waits = self._root.get("goalwright.status") == "waiting"
        outcome = {"status": "pending"} if waits else {"status": "failed", "error": "interrupted"}
        for name in list(self._open):
            if self._last is not None:
                self._end_task({"task": name, **outcome}, self._last)

    def _end_planning(self, at: datetime) -> None:
        if self._planning_started is not None and not self._planned:
            planned = sum(parent_of(name) is None for name in self._tasks)
            attributes = {"gen_ai.operation.name": "plan", "goalwright.plan.tasks": planned}
            self._add("plan", "plan", self._planning_started, at, attributes)
            self._planned = True

    def _end_task(self, body: Mapping[str, Any], at: datetime) -> None:
        name, task = body["task"], self._tasks.get(body["task"], {})
        agent = task.get("name") or name
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent, "goalwright.task": name}
        if self._content and body.get("output"):
            attributes["gen_ai.output.messages"] = body["output"]
        # A task that is skipped again after a resume has a span for each time.
        key = self._task_key(name) if name in self._open else f"task {name} at {at}"
        start = self._open.pop(name, at)
        parent_task = parent_of(name)
        parent = self._task_key(parent_task) if parent_task in self._tasks else "run"
        span = self._add(key, f"invoke_agent {agent}", start, at, attributes, parent)
        if body["status"] == "failed":
            _fail(span, body.get("error") or "")

    def _task_key(self, task: str) -> str:
        """Return the key of a task's span; a task has a span for each start."""
        return f"task {task} {self._starts.get(task, 0)}"

    def _add_call(self, body: Mapping[str, Any], at: datetime) -> None:
        attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": body["model"]}
        reply = body.get("reply")
        if reply is not None:
            if reply["usage"].get("estimated_calls"):
                attributes["goalwright.usage.estimated"] = True
            attributes |= {
                "gen_ai.response.model": reply["model"] or body["model"],
                "gen_ai.response.finish_reasons": [reply["finish"]],
                "gen_ai.usage.input_tokens": reply["usage"]["prompt_tokens"],
                "gen_ai.usage.output_tokens": reply["usage"]["completion_tokens"],
            }
        if broken := self._broken.pop(body.get("request", ""), []):
            attributes["goalwright.broken.calls"] = len(broken)
            attributes["goalwright.broken.input_tokens"] = sum(usage["prompt_tokens"] for usage in broken)
            attributes["goalwright.broken.output_tokens"] = sum(usage["completion_tokens"] for usage in broken)
        if self._content:
            messages = self._prompts.get(body.get("request", ""), [])
            attributes["gen_ai.input.messages"] = json.dumps(messages, ensure_ascii=False)
            attributes |= {"gen_ai.output.messages": reply["text"]} if reply is not None else {}
        start = at - timedelta(seconds=body["seconds"])
        key = f"call {body.get('request')} {at}"
        span = self._add(key, f"chat {body['model']}", start, at, attributes, self._parent(body), kind=3)
        if reply is None:
            _fail(span, body["error"])

    def _add_tool_call(self, seq: int, body: Mapping[str, Any], at: datetime) -> None:
        envelope = body["envelope"]
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": body["name"]}
        if self._content:
            attributes["gen_ai.tool.call.result"] = envelope["text"]
        start = at - timedelta(milliseconds=envelope["stats"]["time_ms"])
        span = self._add(f"tool {seq}", f"execute_tool {body['name']}", start, at, attributes, self._parent(body))
        if envelope["status"] == "error":
            _fail(span, envelope["error"]["message"])

    def _add_check(self, seq: int, body: Mapping[str, Any], at: datetime) -> None:
        label = "pass" if body["holds"] else "fail"
        attributes = {"gen_ai.evaluation.name": "check", "gen_ai.evaluation.score.label": label}
        if self._content:
            attributes["gen_ai.evaluation.explanation"] = body["why"]
        self._add(f"check {seq}", f"evaluate {body['task']}", at, at, attributes, self._parent(body))

    def _parent(self, body: Mapping[str, Any]) -> str:
        if body.get("task") and body.get("role") != "condition":  # a condition is checked before its task starts
            return self._task_key(body["task"])
        return "plan" if body.get("role") == "decomposer" else "run"

    def _add(
        self,
        key: str,
        name: str,
        start: datetime,
        end: datetime,
        attributes: Mapping[str, Any],
        parent: str = "run",
        kind: int = 1,
    ) -> dict[str, Any]:
        span = self._span(key, name, start, end, attributes) | {"parentSpanId": self._id(parent, 16), "kind": kind}
        self._spans.append(span)
        return span

    def _span(
        self, key: str, name: str, start: datetime, end: datetime, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "traceId": self._id("", 32),
            "spanId": self._id(key, 16),
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(int(start.timestamp() * 1e9)),
            "endTimeUnixNano": str(int(max(start, end).timestamp() * 1e9)),  # the clock can be set back
            "attributes": attribute_list(attributes),
        }

    def _id(self, key: str, length: int) -> str:
        return span_id(self._run_id, key, length)


def _fail(span: dict[str, Any], message: str) -> None:
    span["status"] = {"code": 2, "message": message}


def span_id(run_id: str, key: str, length: int) -> str:
    """Return the deterministic id of a run's span; the id of its trace has an empty key and 32 digits."""
    return hashlib.sha256(f"{run_id} {key}".encode()).hexdigest()[:length]


def attribute_list(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes in the JSON form of OTLP."""
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


def score_spans(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the spans of a report in its JSON form, without answers and evidence."""
    now = str(time.time_ns())
    return [span for row in report["rows"] for span in _row(str(report["eval_id"]), row, now)]


def _row(evaluation: str, row: Mapping[str, Any], now: str) -> Iterator[dict[str, Any]]:
    run = str(row["run_id"])
    context = {"goalwright.eval_id": evaluation, "goalwright.case": row["case"], "goalwright.variant": row["variant"]}
    for number, check in enumerate(row["checks"], 1):
        passed = bool(check["passed"])
        attributes = {
            "gen_ai.evaluation.name": str(check["check"]),
            "gen_ai.evaluation.score.value": float(passed),
            "gen_ai.evaluation.score.label": "pass" if passed else "fail",
            **context,
            "goalwright.repeat": row["repeat"],
        }
        yield {
            "traceId": span_id(run, "", 32),
            "spanId": span_id(run, f"score {evaluation} {number}", 16),
            "parentSpanId": span_id(run, "run", 16),
            "name": f"evaluate {row['case']}",
            "kind": 1,
            "startTimeUnixNano": now,
            "endTimeUnixNano": now,
            "attributes": attribute_list(attributes),
        }
