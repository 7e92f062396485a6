"""Draws the timeline of a run as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli import request_text
from goalwright.interfaces.cli.view import output, width
from goalwright.traces.wording import change_text, shortened_text, spent
from goalwright_skills.text.formatting import counted, dollars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright.traces.span import Span
    from goalwright.traces.timeline import Timeline
    from goalwright_executor.stores.row import Row
    from goalwright_planner.events import RecipeUse

# Widths in columns.
_MAX_BAR = 32
_MAX_NAMES = 30
_MIN_BAR = _MIN_NAMES = 10
_FIXED = 16  # marks, borders and seconds of a row
_DETAILS = 20  # the usual width of a row's details
_MAX_GOAL = 200
_MARKS = {
    "done": "✓",
    "failed": "✗",
    "skipped": "–",
    "unneeded": "○",
    "cancelled": "■",
    "reused": "↺",
    "interrupted": "■",
    "running": "▶",
    "waiting": "?",
    "pending": "·",
}

_CAUSES = {"replan": "changed by a model", "person": "changed by a person"}


def draw(view: Timeline, max_width: int | None = None) -> str:
    """Draw a run: its summary, its selected skills, its graph with times, and its critical path."""
    return "\n".join([*_head(view, max_width), "", *_graph(view, max_width), "", *_end(view, max_width)]).rstrip()


def _recipe(use: RecipeUse) -> str:
    """Return the recipe of a run with its values."""
    values = ", ".join(f"{name} = {value}" for name, value in use.values.items())
    return f"recipe {use.name}" + (f" ({values})" if values else "") + ("" if use.used else ": not used")


def _head(view: Timeline, max_width: int | None) -> Iterator[str]:
    result = view.result
    usage = spent(result.usage, result.cost_usd)
    yield width.join([f"run {result.run_id}", view.status, *usage, f"{view.seconds:.1f} s"], max_width)
    goal = " ".join(result.goal.split())
    yield width.wrap(f"goal: {goal if max_width is None else width.cut(goal, _MAX_GOAL)}", max_width)
    if view.parent:
        yield f"rerun of {view.parent}"
    if view.after:
        yield f"follows {view.after}"
    if view.recipe is not None:
        yield width.wrap(_recipe(view.recipe), max_width)
    if view.resumed:
        yield f"resumed {counted(view.resumed, 'time')}"
    for skill in view.selections:
        unused = ", not used" if skill.certain and not view.alive and skill.name not in result.skills_used else ""
        yield width.wrap(f"skill: {skill.name} {skill.score:.2f} ({skill.reason}){unused}", max_width)
    for event in view.shortened:
        yield width.wrap(shortened_text(event), max_width)
    for fault in view.faults:
        yield width.wrap(f"plan refused: {fault}", max_width)
    for _, change in view.changes:
        yield width.wrap(f"{_CAUSES[change.cause]}: {change_text(change)}", max_width)
    for warning in result.warnings:
        yield width.wrap(f"warning: {warning}", max_width)


def _graph(view: Timeline, max_width: int | None) -> Iterator[str]:
    """Draw a row for each step; on a narrow terminal names are cut first, then bars get shorter."""
    spans = list(view.spans.values())
    longest = max((width.columns(_name(span)) for span in spans), default=0)
    names, bar = (longest, _MAX_BAR) if max_width is None else _column_widths(max_width, longest)
    for span in spans:
        critical = "*" if span.id in view.critical else " "
        name, time = width.pad(_name(span), names), _seconds(span, view)
        head = f"{_MARKS.get(span.status, '·')}{critical}{name} |{_bar(span, view.seconds, bar)}| {time}"
        yield from (line.rstrip() for line in width.flow(head, _details(span), max_width))


def _seconds(span: Span, view: Timeline) -> str:
    """Return the duration of a step so far; blank if it never started."""
    if span.start is None:
        return " " * 9
    return f"{view.seconds - span.start if span.status == 'running' else span.seconds:7.2f} s"


def _column_widths(max_width: int, longest: int) -> tuple[int, int]:
    """Return the widths of the names and of the bars."""
    names = min(_MAX_NAMES, longest, max(max_width // 3, _MIN_NAMES))
    return names, max(_MIN_BAR, min(_MAX_BAR, max_width - names - _FIXED - _DETAILS))


def _details(span: Span) -> Iterator[str]:
    """Yield a step's attempts, tokens, cost, tools and dependencies, as words that are not broken."""
    if span.attempts > 1:
        yield f"×{span.attempts}"
    mark = "≈" if span.estimated_calls else ""
    if span.tokens:
        yield f"{mark}{span.tokens:,} tok"
    if span.cost_usd:
        yield f"{mark}{dollars(span.cost_usd)}"
    yield from (f"{tool}×{count}" for tool, count in span.tools.items())
    if span.checks:
        yield f"checked×{len(span.checks)}"
    for position, dependency in enumerate(span.depends_on, start=1):
        yield f"{'← ' if position == 1 else ''}{dependency}{',' if position < len(span.depends_on) else ''}"
    if len(span.depends_on) > 1 and span.waited_for:
        yield f"(waited for {span.waited_for})"
    if span.status == "unneeded" and span.why:
        yield from f"(not needed: {span.why})".split()


def _end(view: Timeline, max_width: int | None) -> Iterator[str]:
    if view.critical:
        yield width.wrap(f"critical path: {' → '.join(view.critical)}", max_width)
    if view.result.error:
        yield width.wrap(f"error: {view.result.error}", max_width)
    for request in view.result.waiting:
        yield from request_text.lines(request, max_width)
    if view.result.waiting:
        resume = (output.program(), "resume", view.result.run_id)
        yield f"answer with: {request_text.command(resume, view.result.waiting)}"


def _name(span: Span) -> str:
    return f"{span.id} [{span.name}]" if span.name else span.id


def _bar(span: Span, total: float, size: int) -> str:
    if span.start is None or not total:
        return " " * size
    start = min(int(span.start / total * size), size - 1)
    end = max(start + 1, round((span.stopped if span.stopped is not None else total) / total * size))
    return " " * start + "█" * (end - start) + " " * (size - end)


def event_lines(rows: list[Row]) -> Iterator[str]:
    """Yield the events of a task in full: prompts, replies and tool results."""
    for row in rows:
        body = row.body
        yield f"--- {row.at}  {row.type}"
        match row.type:
            case "call_started":
                yield f"model {body['model']}, request {body.get('request', '')}"
                for message in body["messages"]:
                    calls = "".join(f"\n  calls {call['name']}({call['arguments']})" for call in message["tool_calls"])
                    images = "".join(f"\n  image {_image(image)}" for image in message.get("images", ()))
                    yield f"[{message['role']}]\n{message['content']}{calls}{images}"
            case "call_finished":
                reply = body["reply"]
                usage = reply["usage"]
                mark = "≈" if usage.get("estimated_calls") else ""
                tokens = f"{mark}{usage['prompt_tokens']} + {usage['completion_tokens']} tokens"
                yield f"{tokens}, finish: {reply['finish']}"
                yield reply["text"] + "".join(
                    f"\n  calls {call['name']}({call['arguments']})" for call in reply["tool_calls"]
                )
            case "call_broken":
                usage = body["usage"]
                yield f"≈{usage['prompt_tokens']} + {usage['completion_tokens']} tokens, broke off: {body['reason']}"
            case "tool_called":
                envelope = body["envelope"]
                yield f"{body['name']}: {envelope['status']}\n{envelope['text']}"
            case "prompt_made":
                yield "variables: " + ", ".join(body["variables"])
            case "skill_loaded":
                yield f"{body['name']}\n{body['content']}"
            case "file_read":
                yield _file_text(body)
            case _:
                yield ", ".join(
                    f"{key}: {round(value, 3) if isinstance(value, float) else value}"
                    for key, value in body.items()
                    if value not in (None, "", [], {})
                )


def _file_text(body: Mapping[str, Any]) -> str:
    """Return the parts of a file that a task got, with their numbers, or the error."""
    if body.get("error"):
        return f"{body['path']}: {body['error']}"
    parts = body.get("parts", [])
    head = f"{body['path']}: {len(parts)} of {counted(body['of'], 'part')}"
    return "\n".join((head, *(f"[{part['number']}]\n{part['text']}" for part in parts)))


def _image(image: Mapping[str, Any]) -> str:
    return f"{image['name']} ({image['type']}, {image['width']} × {image['height']} pixels, {image['bytes']} bytes)"
