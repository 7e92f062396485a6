"""A run as one self-contained page: no script, nothing fetched."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from executor.journal import codec
from planner.events import CallFailed, CallFinished, CallRetried, CallStarted, PlanRefused, ToolCalled, Warned
from skills.text.plural import counted
from weft.traces.timeline import TYPES, Span, Timeline, timeline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from executor.stores.row import Row
    from planner.events import Event
    from planner.model import ToolCall
    from skills.selection.detector import Selection

# What a trace holds may come from strangers: no script runs and nothing is fetched, whatever it says.
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff; overflow-wrap: break-word; }
pre { white-space: pre-wrap; background: #f6f6f4; padding: .6rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; min-width: 40rem; }
td, th { text-align: left; padding: .2rem .6rem; vertical-align: top; }
th, td:nth-child(n+4) { white-space: nowrap; } td:nth-child(-n+2) { overflow-wrap: anywhere; min-width: 7rem; }
.time { width: 40%; position: relative; background: #f6f6f4; }
.bar { position: absolute; top: .3rem; height: .9rem; background: #7a9e7e; min-width: 2px; }
.critical .bar { background: #c2703d; } mark { background: #c2703d; color: #fff; padding: 0 .3rem; }
.failed td, .wrong { color: #a11; } .skipped td, .cancelled td, small { color: #767676; }
@media (prefers-color-scheme: dark) {
  body { background: #1c1c1c; color: #ddd; } pre, .time { background: #2a2a2a; }
  .failed td, .wrong { color: #f88; } .skipped td, .cancelled td, small { color: #999; }
}
"""


def render(runs: list[list[Row]], alive: Collection[str] = ()) -> str:
    """The page for some runs; `alive` are those that a process is at now."""
    shown = [timeline((row for row in rows if row.type in TYPES), alive=_id(rows) in alive) for rows in runs]
    title = shown[0].result.goal[:80] if len(shown) == 1 else counted(len(shown), "run")
    head = f"{_HEAD}<title>{escape(f'weft: {title}')}</title><style>{_STYLE}</style>"
    body = "\n".join("\n".join(_run(view, rows)) for view, rows in zip(shown, runs, strict=True))
    return f"<!doctype html>\n<html lang=en>{head}\n{body}\n</html>\n"


def _id(rows: list[Row]) -> str:
    return rows[0].run_id if rows else ""


def _run(view: Timeline, rows: list[Row]) -> Iterator[str]:
    result = view.result
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    usage = f"{counted(result.usage.calls, 'call')} · {counted(result.usage.tokens, 'token')}"
    yield f"<h1>{escape(result.goal[:300])}</h1>"
    yield f"<p>{escape(f'{result.run_id} · {view.status} · {usage} · {cost} · {view.seconds:.1f} s')}</p>"
    if view.selections:
        yield "<ul>" + "".join(_selected(one) for one in view.selections) + "</ul>"
    yield "<div class=wide><table><tr><th>task<th>after<th>time<th>seconds<th>tries<th>tokens</tr>"
    yield from (_row(span, view.seconds, critical=span.id in view.critical) for span in view.spans.values())
    yield "</table></div>"
    if view.critical:
        yield f"<p><mark>Critical path</mark> {escape(' → '.join(view.critical))}</p>"
    for title, text in (("Answer", result.answer), ("Error", result.error), ("Question", result.question)):
        if text:
            yield f"<h2>{title}</h2><pre>{escape(text)}</pre>"
    yield "<h2>What was said</h2>"
    for row in rows:
        yield from _said(codec.event(row.type, row.body))


def _selected(one: Selection) -> str:
    return f"<li>{escape(one.name)} {one.score:.2f}: {escape(one.reason)}"


def _row(span: Span, whole: float, *, critical: bool) -> str:
    bar = ""
    if span.start is not None and whole:
        end = span.end if span.end is not None else whole
        bar = f'<div class=bar style="left:{span.start / whole:.2%};width:{(end - span.start) / whole:.2%}"></div>'
    name = f"{span.id} [{span.name}]" if span.name else span.id
    why = span.error or ("" if span.status != "reused" else f"from {span.why}")
    about = "".join(f"<br><small>{escape(text)}</small>" for text in (span.title, why) if text)
    return (
        f'<tr class="{escape(span.status)}{" critical" if critical else ""}"><td>{escape(f"{name} ({span.status})")}'
        f"{about}<td>{escape(', '.join(span.depends_on))}<td class=time>{bar}<td>{span.seconds:.2f}"
        f"<td>{span.attempts}<td>{span.tokens:,}</tr>"
    )


def _said(event: Event | None) -> Iterator[str]:
    match event:
        case CallStarted():
            asked = "\n\n".join(f"[{one.role}]\n{_words(one.content, one.tool_calls)}" for one in event.messages)
            yield _folded(f"{event.task or event.role}: asked {event.model}", asked)
        case CallFinished(reply=reply):
            tokens = f"{reply.usage.prompt_tokens:,} + {reply.usage.completion_tokens:,} tokens"
            cut = ", cut off" if reply.cut_off else ""
            title = f"{event.task or event.role}: answered after {event.seconds:.1f} s ({tokens}{cut})"
            yield _folded(title, _words(reply.text, reply.tool_calls))
        case CallRetried():
            yield _wrong(f"{event.task or event.role}: asked again after {event.wait:.1f} s: {event.reason}")
        case CallFailed():
            yield _wrong(f"{event.task or event.role}: no answer: {event.error}")
        case PlanRefused():
            yield _wrong("the plan was refused: " + "; ".join(event.faults))
        case ToolCalled(envelope=envelope):
            given = json.dumps(envelope.get("context", {}).get("params_input", {}), ensure_ascii=False)
            title = f"{event.task or ''}: tool {event.name}: {envelope.get('status')}"
            yield _folded(title, f"{given}\n\n{envelope.get('text', '')}")
        case Warned():
            yield _wrong(f"warning: {event.message}")
        case _:
            pass


def _words(text: str, calls: Iterable[ToolCall]) -> str:
    return "\n".join([text, *(f"calls {one.name}({one.arguments})" for one in calls)]).strip()


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def _wrong(text: str) -> str:
    return f"<p class=wrong>{escape(text)}</p>"
