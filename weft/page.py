"""A run as one self-contained page: no script, nothing fetched."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from skills.plural import counted
from weft.timeline import TYPES, Span, timeline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from executor.journal.row import Row

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
pre { white-space: pre-wrap; background: #f6f6f4; padding: .6rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .2rem .6rem; }
.time { width: 40%; position: relative; background: #f6f6f4; }
.bar { position: absolute; top: .3rem; bottom: .3rem; background: #7a9e7e; min-width: 2px; }
.critical .bar { background: #c2703d; } .failed td { color: #a11; } .skipped td, .cancelled td { color: #888; }
@media (prefers-color-scheme: dark) { body { background: #1c1c1c; color: #ddd; } pre, .time { background: #2a2a2a; } }
"""


def render(runs: list[list[Row]], alive: Collection[str] = ()) -> str:
    """The page for some runs; `alive` are those that a process is at now."""
    title = "weft: " + ", ".join(rows[0].run_id for rows in runs if rows)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f"<!doctype html>\n<html lang=en>{head}\n" + "\n".join(_run(rows, alive) for rows in runs) + "\n</html>\n"


def _run(rows: list[Row], alive: Collection[str]) -> str:
    view = timeline((row for row in rows if row.type in TYPES), alive=bool(rows) and rows[0].run_id in alive)
    result = view.result
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    usage = f"{counted(result.usage.calls, 'call')} · {counted(result.usage.tokens, 'token')}"
    spent = f"{usage} · {cost} · {view.seconds:.1f} s"
    parts = [
        f"<h1>{escape(result.goal[:300])}</h1>",
        f"<p>{escape(result.run_id)} · {view.status} · {spent}</p>",
        "<ul>" + "".join(f"<li>{escape(one.name)} {one.score:.2f}: {escape(one.reason)}" for one in view.selections),
        "</ul><table><tr><th>task<th>after<th>time<th>seconds<th>tries<th>tokens</tr>",
        *(_row(span, view.seconds, critical=span.id in view.critical) for span in view.spans.values()),
        "</table>",
        f"<p>Critical path: {escape(' → '.join(view.critical))}</p>",
        f"<h2>Answer</h2><pre>{escape(result.answer or result.error or '')}</pre><h2>What was said</h2>",
        *_said(rows),
    ]
    return "\n".join(parts)


def _row(span: Span, whole: float, *, critical: bool) -> str:
    bar = ""
    if span.start is not None and whole:
        end = span.end if span.end is not None else whole
        bar = f'<div class=bar style="left:{span.start / whole:.2%};width:{(end - span.start) / whole:.2%}"></div>'
    name = f"{span.id} [{span.name}]" if span.name else span.id
    return (
        f'<tr class="{span.status}{" critical" if critical else ""}"><td>{escape(name)} ({span.status})'
        f"<td>{escape(', '.join(span.depends_on))}<td class=time>{bar}<td>{span.seconds:.2f}<td>{span.attempts}"
        f"<td>{span.tokens:,}</tr>"
    )


def _said(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        whose = escape(str(row.body.get("task") or row.body.get("role") or ""))
        match row.type:
            case "call_started":
                text = "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in row.body["messages"])
                yield _folded(f"{whose}: asked {row.body['model']}", text)
            case "call_finished":
                yield _folded(f"{whose}: answered", _reply(row.body["reply"]))
            case "tool_called":
                yield _folded(f"{whose}: tool {row.body['name']}", row.body["envelope"]["text"])
            case _:
                pass


def _reply(reply: Mapping[str, Any]) -> str:
    calls = [f"calls {one['name']}({one['arguments']})" for one in reply["tool_calls"]]
    return "\n".join([reply["text"], *calls]).strip()


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary><pre>{escape(text)}</pre></details>"
