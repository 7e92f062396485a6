"""Draws a run to fit a terminal: a header, then the tasks, then the end of the answer.

The header and the running tasks are always shown. Tasks that do not fit are folded: done tasks first, then waiting
ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from goalwright.interfaces.cli.view import width as columns
from goalwright.interfaces.cli.view.output import escape_controls
from goalwright_skills.text.formatting import short_dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright.interfaces.cli.view.live.run_state import RunState, TaskRow
    from goalwright_planner.plan.task import Task

MARKS = {
    "pending": ("·", "dim"),
    "running": ("▶", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "skipped": ("–", "yellow"),
    "unneeded": ("–", "dim"),
    "cancelled": ("■", "yellow"),
    "waiting": ("?", "yellow"),
}
_FOLDED = {"pending": "waiting", "waiting": "waiting for you"}
_MAX_ID = 24
_MAX_NAME = 20
_SECONDS = 8
_TOKENS = 8
_GAP = 2
_MAX_TAIL = 6_000
_TAIL = 3  # lines of the answer that have precedence over tasks


@dataclass(frozen=True, slots=True)
class Layout:
    """The widths of the columns; they depend only on the plan and the terminal, so that nothing moves."""

    id: int
    title: int
    name: int
    seconds: int
    tokens: int

    @classmethod
    def of(cls, rows: Iterable[TaskRow], width: int) -> Layout:
        """Compute the widths; a narrow terminal loses first the tokens, then the skill, then the title."""
        rows = list(rows)
        ids = min(max((columns.columns(row.task.id) for row in rows), default=0), _MAX_ID)
        names = min(max((columns.columns(_name(row)) for row in rows), default=0), _MAX_NAME)
        room = width - 2 - ids
        seconds = _SECONDS if room >= _SECONDS + _GAP else 0
        room -= seconds + _GAP if seconds else 0
        tokens = _TOKENS if room >= 50 else 0
        name = names if room >= names + _GAP + 16 else 0
        room -= sum(column + _GAP for column in (tokens, name) if column)
        return cls(ids, max(room - _GAP, 0), name, seconds, tokens)


def frame(state: RunState, width: int, height: int) -> list[Text]:
    """Return the lines to show, at most `height`."""
    if not state.rows:
        return [_header(state, width), *_tail(state, width, height - 1)]
    layout = Layout.of(state.rows.values(), width)
    room = max(height - 1, 1)
    tail = min(_TAIL, room // 3) if state.streamed.strip() else 0
    lines = _tasks(state, layout, width, room - tail)
    return [_header(state, width), *lines, *_tail(state, width, room - len(lines))]


def _header(state: RunState, width: int) -> Text:
    parts = []
    if state.rows:
        parts.append(f"{state.count('done')}/{len(state.rows)}")
        if running := state.count("running"):
            parts.append(f"{running} running")
        if failed := state.count("failed"):
            parts.append(f"{failed} failed")
    parts += [*_cost(state), _duration(state.clock() - state.began)]
    if state.activity not in ("", "running"):
        parts.append(f"{state.activity} …{f' {state.written:,} tokens' if state.written else ''}")
    return Text(columns.cut(escape_controls(" · ".join(parts)), width), style="bold", no_wrap=True)


def _cost(state: RunState) -> list[str]:
    limit = f" of {short_dollars(state.max_cost)}" if state.max_cost is not None else ""
    if state.cost is None:
        return [f"cost unknown{limit}"] if limit else []
    return [f"{'≈' if state.is_estimated else ''}{short_dollars(state.cost)}{limit}"] if state.cost or limit else []


def _tasks(state: RunState, layout: Layout, width: int, room: int) -> list[Text]:
    now, rows = state.clock(), list(state.rows.values())
    items = {row.task.id: state.items_of(row.task.id) for row in rows if _has_parts(row.task)}
    if len(rows) <= room:
        return [_line(row, layout, width, now, items) for row in rows]
    running = [row for row in rows if row.state == "running"]
    if len(running) > room - 2:  # not even the running tasks have a line each
        return [*_several_per_line(running, width, now, room - 1), _fold(rows, ("done", "pending"), width)][:room]
    left = room - len(running) - 2  # two lines for the folded tasks
    others = [row for row in rows if row.state not in ("running", "done", "pending")]
    pending = [row for row in rows if row.state == "pending"]
    visible = {id(row) for row in [*running, *[*others, *pending][: max(left, 0)]]}
    lines = [_line(row, layout, width, now, items) for row in rows if id(row) in visible]
    hidden = [row for row in rows if id(row) not in visible]
    done = [_fold(hidden, ("done",), width)] if any(row.state == "done" for row in hidden) else []
    unfinished = [row for row in hidden if row.state != "done"]
    return [*done, *lines, *([_fold(unfinished, tuple(MARKS), width)] if unfinished else [])]


def _fold(rows: Sequence[TaskRow], states: Iterable[str], width: int) -> Text:
    """Count the tasks in each of these states, in one line: `✓ 18 done  · 4 waiting`."""
    line = Text(no_wrap=True)
    for state in states:
        count = sum(row.state == state for row in rows)
        if count:
            mark, style = MARKS[state]
            line.append(f"{'  ' if line else ''}{mark} {count} {_FOLDED.get(state, state)}", style=style)
    line.truncate(width)
    return line


def _several_per_line(rows: Sequence[TaskRow], width: int, now: float, room: int) -> list[Text]:
    """Return lines with several tasks each."""
    words = [
        f"▶ {columns.cut(escape_controls(row.task.id), _MAX_ID)} {_duration(row.elapsed(now) or 0)}" for row in rows
    ]
    lines: list[str] = []
    for word in words:
        if lines and columns.columns(lines[-1]) + 2 + columns.columns(word) <= width:
            lines[-1] += f"  {word}"
        else:
            lines.append(word)
    return [Text(columns.cut(line, width), style="cyan", no_wrap=True) for line in lines[: max(room, 1)]]


def _line(row: TaskRow, layout: Layout, width: int, now: float, items: Mapping[str, str]) -> Text:
    mark, style = MARKS[row.state]
    elapsed = row.elapsed(now)
    line = Text(f"{mark} ", style=style, no_wrap=True)
    line.append(columns.pad(escape_controls(row.task.id), layout.id), style="bold" if row.state == "running" else "")
    if layout.title:
        line.append(" " * _GAP)
        line.append_text(_title(row, layout.title, items.get(row.task.id, "")))
    if layout.name:
        line.append(" " * _GAP + columns.pad(_name(row), layout.name), style="magenta")
    if layout.seconds:
        line.append(f"{'' if elapsed is None else _duration(elapsed):>{layout.seconds + _GAP}}")
    if layout.tokens:
        tokens = row.tokens + row.written
        line.append(f"{f'{tokens:,}' if tokens else '':>{layout.tokens + _GAP}}", style="dim")
    line.truncate(width)
    return line


def _has_parts(task: Task) -> bool:
    return task.for_each is not None or task.action_type == "goal" or task.repeat is not None


def _title(row: TaskRow, width: int, items: str) -> Text:
    title = "  ".join(filter(None, (escape_controls(row.title), items)))
    edges = f"{'  ' if title else ''}← {', '.join(row.task.depends_on)}" if row.task.depends_on else ""
    edges = escape_controls(edges)
    if columns.columns(title) + columns.columns(edges) > width:
        edges = columns.cut(edges, max(width - columns.columns(title), 0)) if columns.columns(title) < width - 6 else ""
    text = Text(columns.cut(title, width))
    text.append(edges, style="dim")
    text.append(" " * max(width - columns.columns(text.plain), 0))
    return text


def _name(row: TaskRow) -> str:
    return escape_controls(row.task.name or row.task.action_type)


def _tail(state: RunState, width: int, room: int) -> list[Text]:
    """Return the last lines of the streamed text that fit."""
    if room <= 0 or not state.streamed.strip():
        return []
    visible = _rendered(state.streamed, width) if state.is_markdown else _plain_lines(state.streamed, width, room)
    while visible and not visible[-1].plain.strip():
        visible.pop()
    return visible[-room:]


def _rendered(text: str, width: int) -> list[Text]:
    """Render a text as Markdown."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=width, color_system="standard", legacy_windows=False)
    lines = console.render_lines(Markdown(escape_controls(_ending(text)).rstrip()), pad=False)
    return [Text.assemble(*((part.text, part.style or "") for part in line), no_wrap=True) for line in lines]


def _plain_lines(text: str, width: int, room: int) -> list[Text]:
    """Return the last lines of a program's output, with long lines broken."""
    from rich.cells import chop_cells

    lines = escape_controls(text).rstrip().split("\n")[-room:]
    return [Text(part, no_wrap=True) for line in lines for part in chop_cells(line, width) or [""]]


def _ending(text: str) -> str:
    """Return the end of a long text, from the start of a paragraph, because it is rendered several times a second."""
    if len(text) <= _MAX_TAIL:
        return text
    before, part = text[:-_MAX_TAIL], text[-_MAX_TAIL:]
    start = part.find("\n\n") + 2
    is_code = (before + part[:start]).count("\n```") % 2
    return ("```\n" if is_code else "") + part[start:]


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02} min"
