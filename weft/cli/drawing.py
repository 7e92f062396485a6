"""A timeline drawn with characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from executor.journal.row import Row
    from weft.timeline import Span, Timeline

_BAR = 32
_NAMES = 30
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


def drawn(view: Timeline) -> str:
    """The run: its line, why its skills, its graph beside its time, its critical path."""
    return "\n".join(_lines(view))


def _lines(view: Timeline) -> Iterator[str]:
    result = view.result
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    usage = f"{counted(result.usage.calls, 'call')} · {counted(result.usage.tokens, 'token')}"
    spent = f"{usage} · {cost} · {view.seconds:.1f} s"
    yield f"run {result.run_id} · {view.status} · {spent}"
    yield f"goal: {' '.join(result.goal.split())[:200]}"
    if view.parent:
        yield f"a rerun of {view.parent}"
    if view.resumed:
        yield f"resumed {counted(view.resumed, 'time')}"
    for one in view.selections:
        yield f"skill: {one.name} {one.score:.2f} ({one.reason})"
    for fault in view.faults:
        yield f"plan refused: {fault}"
    yield ""
    names = min(_NAMES, max((len(_name(span)) for span in view.spans.values()), default=0))
    for span in view.spans.values():
        yield _row(span, view.seconds, names, critical=span.id in view.critical)
    yield ""
    if view.critical:
        yield f"critical path: {' → '.join(view.critical)}"
    if result.error:
        yield f"error: {result.error}"


def _row(span: Span, whole: float, names: int, *, critical: bool) -> str:
    name = _name(span)
    shown = name if len(name) <= names else name[: names - 1] + "…"
    cost = "" if not span.cost_usd else f" ${span.cost_usd:.4f}"
    tries = f" ×{span.attempts}" if span.attempts > 1 else ""
    tokens = f" {span.tokens:,} tok" if span.tokens else ""
    tools = "".join(f" {tool}×{count}" for tool, count in span.tools.items())
    after = f"  ← {', '.join(span.depends_on)}" if span.depends_on else ""
    waited = f" (waited for {span.waited_for})" if len(span.depends_on) > 1 and span.waited_for else ""
    mark = "*" if critical else " "
    seconds = whole - span.start if span.status == "running" and span.start is not None else span.seconds
    took = f"{seconds:7.2f} s{tries}{tokens}{cost}{tools}"
    return f"{_MARKS.get(span.status, '·')}{mark}{shown:<{names}} |{_bar(span, whole)}| {took}{after}{waited}"


def _name(span: Span) -> str:
    return f"{span.id} [{span.name}]" if span.name else span.id


def _bar(span: Span, whole: float) -> str:
    if span.start is None or not whole:
        return " " * _BAR
    begin = min(int(span.start / whole * _BAR), _BAR - 1)
    end = max(begin + 1, round((span.end if span.end is not None else whole) / whole * _BAR))
    return " " * begin + "█" * (end - begin) + " " * (_BAR - end)


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
                yield ", ".join(f"{key}: {value}" for key, value in body.items() if value not in (None, "", [], {}))
