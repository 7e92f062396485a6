"""Decodes recorded events: the inverse of `weft_planner.event_fields.to_dict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from weft_planner import events
from weft_planner.event_fields import field_names, type_name_of
from weft_planner.events import EarlierOutput, EarlierRun, FilePart, SkillPrint, TaskReused
from weft_planner.model import Message, Reply, ToolCall, ToolSpec, Usage
from weft_planner.plan.plan import Plan, Task
from weft_skills.errors import InputError
from weft_skills.selection.detector import Selection
from weft_skills.tools.envelope import Context, Envelope, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft_planner.events import Event

_KINDS: dict[str, type] = {type_name_of(kind): kind for kind in get_args(events.Event)}


def event(kind: str, body: Mapping[str, Any]) -> Event | None:
    """The event in a row; None if this version does not know its type."""
    event_class = _KINDS.get(kind)
    if event_class is None:
        return None
    names = field_names(event_class)
    try:
        values = {name: _DECODERS.get(name, _plain)(value) for name, value in body.items() if name in names}
        result: Event = event_class(**values)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise InputError(f"an event of type {kind!r} is malformed: {error}", hint="export the run again") from error
    return result


def envelope(document: Mapping[str, Any]) -> Envelope:
    """The tool envelope in a recorded document."""
    context, error = document.get("context") or {}, document.get("error")
    return Envelope(
        status=document["status"],
        text=document.get("text", ""),
        context=Context(context.get("cwd", ""), context.get("params_input") or {}, context.get("path_resolved")),
        data=document.get("data") or {},
        error=Fault(error["code"], error["message"]) if error else None,
        time_ms=(document.get("stats") or {}).get("time_ms", 0),
    )


def _messages(rows: list[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(
        Message(row["role"], row["content"], _tool_calls(row["tool_calls"]), row["tool_call_id"]) for row in rows
    )


def _tool_calls(rows: list[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**row) for row in rows)


def _reply(row: Mapping[str, Any]) -> Reply:
    return Reply(**{**row, "tool_calls": _tool_calls(row["tool_calls"]), "usage": Usage(**row["usage"])})


def _tools(rows: list[Mapping[str, Any]]) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(**row) for row in rows)


def _skills(rows: list[Mapping[str, Any]]) -> tuple[SkillPrint, ...]:
    return tuple(SkillPrint(**row) for row in rows)


def _selections(rows: list[Mapping[str, Any]]) -> tuple[Selection, ...]:
    return tuple(Selection(**row) for row in rows)


def _plan(row: Mapping[str, Any] | None) -> Plan | None:
    return None if row is None else Plan.from_dict(row)


def _tasks(rows: list[Mapping[str, Any]]) -> tuple[Task, ...]:
    return tuple(Task.from_dict(row) for row in rows)


def _reused(rows: list[Mapping[str, Any]]) -> tuple[TaskReused, ...]:
    return tuple(TaskReused(**row) for row in rows)


def _parts(rows: list[Mapping[str, Any]]) -> tuple[FilePart, ...]:
    return tuple(FilePart(**row) for row in rows)


def _as_it_is(value: Any) -> Any:
    return value


def _earlier(row: Mapping[str, Any] | None) -> EarlierRun | None:
    if row is None:
        return None
    return EarlierRun(**{**row, "results": tuple(EarlierOutput(**one) for one in row["results"])})


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "messages": _messages,
    "reply": _reply,
    "plan": _plan,
    "added": _tasks,
    "reused": _reused,
    "skills": _skills,
    "own_tools": _tools,
    "mcp": _tools,
    "selections": _selections,
    "parts": _parts,
    "after": _earlier,
    "data": _as_it_is,
}
