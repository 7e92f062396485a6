"""A timeline drawn with characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.text.plural import counted
from weft.cli.view import width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from executor.stores.row import Row
    from weft.traces.timeline import Span, Timeline

# Columns: of a bar and of names at most, of either at least, of all else in a row, of its figures as a rule.
_BAR = 32
_NAMES = 30
_SHORT = 10
_FIXED = 16
_FIGURES = 20
_GOAL = 200
_MARKS = {
    "done": "✓",
    "failed": "✗",
    "skipped": "–",
    "cancelled": "■",
    "reused": "↺",
    "interrupted": "■",
    "running": "▶",
    "pending": "·",
}


def drawn(view: Timeline, room: int | None = None) -> str:
    """The run: its line, why its skills, its graph beside its time, its critical path; in so many columns."""
    return "\n".join([*_head(view, room), "", *_graph(view, room), "", *_end(view, room)]).rstrip()


def _head(view: Timeline, room: int | None) -> Iterator[str]:
    result = view.result
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    usage = counted(result.usage.calls, "call"), counted(result.usage.tokens, "token")
    yield width.joined([f"run {result.run_id}", view.status, *usage, cost, f"{view.seconds:.1f} s"], room)
    goal = " ".join(result.goal.split())
    yield width.wrapped(f"goal: {goal if room is None else width.cut(goal, _GOAL)}", room)
    if view.parent:
        yield f"a rerun of {view.parent}"
    if view.resumed:
        yield f"resumed {counted(view.resumed, 'time')}"
    for one in view.selections:
        yield width.wrapped(f"skill: {one.name} {one.score:.2f} ({one.reason})", room)
    for fault in view.faults:
        yield width.wrapped(f"plan refused: {fault}", room)


def _graph(view: Timeline, room: int | None) -> Iterator[str]:
    """A row for each step. Where it is tight the names are cut first, then the bars are shorter."""
    spans = list(view.spans.values())
    longest = max((width.columns(_name(span)) for span in spans), default=0)
    names, bar = (longest, _BAR) if room is None else _shares(room, longest)
    for span in spans:
        critical = "*" if span.id in view.critical else " "
        shown = width.padded(_name(span), names)
        head = f"{_MARKS.get(span.status, '·')}{critical}{shown} |{_bar(span, view.seconds, bar)}| {_took(span, view)}"
        yield from (line.rstrip() for line in width.flowed(head, _details(span), room))


def _took(span: Span, view: Timeline) -> str:
    """How long a step took, or takes; nothing where it never began."""
    if span.start is None:
        return " " * 9
    return f"{view.seconds - span.start if span.status == 'running' else span.seconds:7.2f} s"


def _shares(room: int, longest: int) -> tuple[int, int]:
    """The columns of the names and of the bars."""
    names = min(_NAMES, longest, max(room // 3, _SHORT))
    return names, max(_SHORT, min(_BAR, room - names - _FIXED - _FIGURES))


def _details(span: Span) -> Iterator[str]:
    """What is worth knowing of a step beside its time, in pieces that are not to be parted."""
    if span.attempts > 1:
        yield f"×{span.attempts}"
    if span.tokens:
        yield f"{span.tokens:,} tok"
    if span.cost_usd:
        yield f"${span.cost_usd:.4f}"
    yield from (f"{tool}×{count}" for tool, count in span.tools.items())
    for place, before in enumerate(span.depends_on, start=1):
        yield f"{'← ' if place == 1 else ''}{before}{',' if place < len(span.depends_on) else ''}"
    if len(span.depends_on) > 1 and span.waited_for:
        yield f"(waited for {span.waited_for})"


def _end(view: Timeline, room: int | None) -> Iterator[str]:
    if view.critical:
        yield width.wrapped(f"critical path: {' → '.join(view.critical)}", room)
    if view.result.error:
        yield width.wrapped(f"error: {view.result.error}", room)


def _name(span: Span) -> str:
    return f"{span.id} [{span.name}]" if span.name else span.id


def _bar(span: Span, whole: float, size: int) -> str:
    if span.start is None or not whole:
        return " " * size
    begin = min(int(span.start / whole * size), size - 1)
    end = max(begin + 1, round((span.end if span.end is not None else whole) / whole * size))
    return " " * begin + "█" * (end - begin) + " " * (size - end)


def in_full(rows: list[Row]) -> Iterator[str]:
    """A task's prompts, replies and tool results, whole."""
    for row in rows:
        body = row.body
        yield f"--- {row.at}  {row.type}"
        match row.type:
            case "call_started":
                yield f"model {body['model']}, request {body.get('request', '')}"
                for message in body["messages"]:
                    calls = "".join(f"\n  calls {call['name']}({call['arguments']})" for call in message["tool_calls"])
                    yield f"[{message['role']}]\n{message['content']}{calls}"
            case "call_finished":
                reply = body["reply"]
                usage = reply["usage"]
                yield f"{usage['prompt_tokens']} + {usage['completion_tokens']} tokens, finish: {reply['finish']}"
                yield reply["text"] + "".join(
                    f"\n  calls {one['name']}({one['arguments']})" for one in reply["tool_calls"]
                )
            case "tool_called":
                envelope = body["envelope"]
                yield f"{body['name']}: {envelope['status']}\n{envelope['text']}"
            case "prompt_made":
                yield "variables: " + ", ".join(body["variables"])
            case "skill_loaded":
                yield f"{body['name']}\n{body['content']}"
            case _:
                yield ", ".join(
                    f"{key}: {round(value, 3) if isinstance(value, float) else value}"
                    for key, value in body.items()
                    if value not in (None, "", [], {})
                )
