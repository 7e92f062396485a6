"""Runs as one self-contained HTML page: the views of `goalwright serve`, and plain tables where scripts do not run.

The markup is in `trace_page.html.j2`, the script comes from `page_script.py`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from goalwright.interfaces.web import page_script
from goalwright.runs.stored.restoring import images_in
from goalwright.traces.timeline import TYPES, Timeline, timeline
from goalwright.traces.wording import call_tokens, change_text, checked_text, condition_text, shortened_text, spent
from goalwright_planner.events import (
    AnswerChecked,
    ApprovalAsked,
    ApprovalGiven,
    CallBroken,
    CallFailed,
    CallFinished,
    CallRetried,
    CallStarted,
    ConditionChecked,
    EarlierRun,
    PlanChanged,
    PlanRefused,
    RecipeUse,
    ReplanAsked,
    ResultChecked,
    RunStarted,
    SkillShortened,
    ToolCalled,
    Warned,
    decode,
)
from goalwright_skills import image_file
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from goalwright.traces.span import Span
    from goalwright_executor.stores.row import Row
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import Event
    from goalwright_planner.model import Message, ToolCall

_SETTINGS = ("model", "max_cost", "max_tokens", "timeout", "max_concurrency", "detector")
_GIVEN = ("asked_skills", "files", "answers", "batch", "batch_goal")
_CONTENT = "file_kept"  # file contents are left out, except for images
_IMAGE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _RunView:
    """One run on the page."""

    timeline: Timeline
    summary: str
    rows: tuple[_TaskRow, ...]
    entries: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class _TaskRow:
    """A step in the table; the bar is its start and width as percentages of the run."""

    span: Span
    name: str
    notes: tuple[str, ...]
    bar: tuple[str, str] | None
    critical: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    """A call with its collapsed text; without text, an error."""

    title: str
    text: str | None = None


def render(runs: list[list[Row]], alive: Collection[str] = ()) -> str:
    """Render runs; `alive` has the ids of running ones."""
    views = [_run_view(rows, alive=bool(rows) and rows[0].run_id in alive) for rows in runs]
    script = page_script.script()
    title = views[0].timeline.result.goal[:80] if len(views) == 1 else counted(len(views), "run")
    # A trace only provides values, which autoescape keeps from becoming markup.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("trace_page.html.j2").render(
        title=title,
        runs=views,
        script=Markup(script),  # noqa: S704 - our own modules only
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        styles=Markup(page_script.styles()),  # noqa: S704 - likewise
        data=_data(runs, views),
    )


def _data(runs: list[list[Row]], views: list[_RunView]) -> Markup:
    """Return the data of the script as JSON that cannot close its element."""
    text = json.dumps([_document(rows, view.timeline) for rows, view in zip(runs, views, strict=True)])
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - all markup is escaped


def _document(rows: list[Row], shown: Timeline) -> dict[str, Any]:
    started = next((row.body for row in rows if row.type == "run_started"), {})
    last = rows[-1] if rows else None
    extra = {
        "last_seq": last.seq if last is not None else 0,
        "last_at": last.at if last is not None else "",
        "now": last.at if last is not None else "",
        "settings": {name: (started.get("settings") or {}).get(name) for name in _SETTINGS},
        "given": {name: started.get(name) for name in _GIVEN},
    }
    recorded = [row.to_dict() for row in rows if row.type != _CONTENT]
    return {"document": shown.to_dict(outputs=False) | extra, "rows": recorded, "images": _images(rows)}


def _images(rows: list[Row]) -> dict[str, str]:
    """Return the images in prompts as data URLs by hash, up to a total size; others are only named."""
    messages = (message for row in rows if row.type == "call_started" for message in row.body.get("messages", ()))
    hashes = {image.get("sha256") for message in messages for image in message.get("images") or ()}
    images: dict[str, str] = {}
    left = _IMAGE_BYTES
    for sha256, data in images_in(rows, hashes):
        if len(data) <= left and sha256 not in images:
            left -= len(data)
            images[sha256] = f"data:{image_file.type_of(data)};base64,{base64.b64encode(data).decode()}"
    return images


def _run_view(rows: list[Row], *, alive: bool) -> _RunView:
    shown = timeline((row for row in rows if row.type in TYPES), alive=alive)
    result = shown.result
    usage = " · ".join(spent(result.usage, result.cost_usd))
    return _RunView(
        timeline=shown,
        summary=f"{result.run_id} · {shown.status} · {usage} · {shown.seconds:.1f} s",
        rows=tuple(_task_row(span, shown.seconds, critical=span.id in shown.critical) for span in shown.spans.values()),
        entries=tuple(entry for row in rows for entry in _entries(decode(row.type, row.body))),
    )


def _task_row(span: Span, total: float, *, critical: bool) -> _TaskRow:
    bar = None
    if span.start is not None and total:
        end = span.stopped if span.stopped is not None else total
        bar = f"{span.start / total:.2%}", f"{(end - span.start) / total:.2%}"
    name = f"{span.id} [{span.name}]" if span.name else span.id
    prefix = {"reused": "from", "unneeded": "not needed:"}.get(span.status)
    reason = span.error or (f"{prefix} {span.why}" if prefix and span.why else "")
    return _TaskRow(span, name, tuple(text for text in (span.title, reason) if text), bar, critical)


def _entries(event: Event | None) -> Iterator[_Entry]:
    match event:
        case RunStarted(after=EarlierRun() as earlier):
            yield _Entry(f"follows run {earlier.run_id}: {earlier.goal}", earlier.answer)
        case RunStarted(recipe=RecipeUse() as use):
            values = "\n".join(f"{name} = {value}" for name, value in use.values.items())
            yield _Entry(f"recipe {use.name}{'' if use.used else ', not used'}", values)
        case CallStarted():
            prompt = "\n\n".join(f"[{message.role}]\n{_with_images(message)}" for message in event.messages)
            yield _Entry(f"{event.task or event.role}: asked {event.model}", prompt)
        case CallFinished(reply=reply):
            tokens = call_tokens(reply.usage)
            truncated = ", truncated" if reply.cut_off else ""
            title = f"{event.task or event.role}: answered after {event.seconds:.1f} s ({tokens}{truncated})"
            yield _Entry(title, _with_calls(reply.text, reply.tool_calls))
        case CallRetried():
            yield _Entry(f"{event.task or event.role}: retried after {event.wait:.1f} s: {event.reason}")
        case CallBroken():
            yield _Entry(f"{event.task or event.role}: broke off ({call_tokens(event.usage)}): {event.reason}")
        case CallFailed():
            yield _Entry(f"{event.task or event.role}: call failed: {event.error}")
        case SkillShortened():
            yield _Entry(shortened_text(event))
        case PlanRefused():
            yield _Entry(f"{event.task or 'plan'} refused: " + "; ".join(event.faults))
        case ReplanAsked():
            yield _Entry(f"asked to change the plan: {event.request}")
        case PlanChanged():
            yield _Entry(change_text(event), "\n".join(f"{task.id}  {task.title}".rstrip() for task in event.added))
        case ConditionChecked():
            condition = event.condition if isinstance(event.condition, str) else event.condition.get("ask", "")
            yield _Entry(condition_text(event), f"{condition}\n\n{event.why}".rstrip())
        case ToolCalled(envelope=envelope):
            arguments = json.dumps(envelope.get("context", {}).get("params_input", {}), ensure_ascii=False)
            title = f"{event.task or ''}: tool {event.name}: {envelope.get('status')}"
            yield _Entry(title, f"{arguments}\n\n{envelope.get('text', '')}")
        case ApprovalAsked():
            yield _Entry(f"{event.task or 'planning'}: asked a person ({event.kind})", _request_text(event))
        case ApprovalGiven(withdrawn=True):
            yield _Entry(f"{event.task}: no longer asked", event.note)
        case ApprovalGiven():
            text = event.note or event.text or json.dumps(event.arguments or {}, ensure_ascii=False)
            yield _Entry(f"{event.task or 'planning'}: {event.decision} by {event.by}", text)
        case ResultChecked():
            yield _Entry(f"{event.task}: {checked_text(event)}")
        case AnswerChecked(faults=faults):
            has = "does not have" if faults else "has"
            yield _Entry(f"answer: it {has} the form asked for", "\n".join(faults))
        case Warned():
            yield _Entry(f"warning: {event.message}")
        case _:
            pass


def _request_text(request: ApprovalRequest) -> str:
    arguments = json.dumps(request.arguments, ensure_ascii=False) if request.arguments else ""
    return "\n\n".join(filter(None, (request.id, request.tool, arguments, request.preview)))


def _with_images(message: Message) -> str:
    images = [f"[image: {image}]" for image in message.images]
    return "\n".join([_with_calls(message.content, message.tool_calls), *images])


def _with_calls(text: str, calls: Iterable[ToolCall]) -> str:
    return "\n".join([text, *(f"calls {call.name}({call.arguments})" for call in calls)]).strip()
