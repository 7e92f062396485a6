"""A plan as a self-contained SVG picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from goalwright.traces.drawing.layout import label, layers

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan


_CHARACTER = 7.2  # approximate width; wide characters count twice
_LINE = 17
_PADDING = 12
_COLUMN_GAP = 24
_ROW_GAP = 48
_MARGIN = 16
_STYLE = """
text { font: 12px ui-monospace, monospace; fill: #1f2328; } .more { fill: #656d76; }
rect { fill: #f6f8fa; stroke: #d0d7de; } .skill rect { stroke: #8250df; } .tool rect { stroke: #1a7f37; }
path { fill: none; stroke: #8c959f; stroke-width: 1.3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .more { fill: #8d96a0; } rect { fill: #161b22; stroke: #30363d; }
}
"""


_Labelled = tuple[str, str, list[str]]  # id, kind, lines


@dataclass(frozen=True, slots=True)
class _Box:
    """The position and text of a task."""

    kind: str
    lines: list[str]
    x: float
    y: float
    width: float
    height: float


def svg(plan: Plan) -> str:
    """Draw a plan, one layer below the other."""
    plan = plan.without_grown()
    rows: list[list[_Labelled]] = [
        [(task.id, task.action_type, label(task)) for task in layer] for layer in layers(plan)
    ]
    edges = [(before, task.id) for task in plan.tasks for before in task.depends_on]
    if plan.needs_synthesis:
        answer = ""  # no task has this id
        rows.append([(answer, "answer", ["answer"])])
        edges += [(task.id, answer) for task in plan.finals]
    boxes, width, height = _place(rows)
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="task graph">',
        f"<style>{_STYLE}</style>",
        *(_edge(boxes[before], boxes[after]) for before, after in edges),
        *(_draw(box) for box in boxes.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _place(rows: list[list[_Labelled]]) -> tuple[dict[str, _Box], float, float]:
    sizes = {
        key: (max(map(_columns, lines)) * _CHARACTER + 2 * _PADDING, len(lines) * _LINE + _PADDING)
        for row in rows
        for key, _, lines in row
    }
    widths = [sum(sizes[key][0] for key, *_ in row) + _COLUMN_GAP * (len(row) - 1) for row in rows]
    total, y = max(widths, default=0) + 2 * _MARGIN, float(_MARGIN)
    boxes: dict[str, _Box] = {}
    for row, row_width in zip(rows, widths, strict=True):
        x = (total - row_width) / 2
        for key, kind, lines in row:
            boxes[key] = _Box(kind, lines, x, y, *sizes[key])
            x += sizes[key][0] + _COLUMN_GAP
        y += max(sizes[key][1] for key, *_ in row) + _ROW_GAP
    return boxes, total, max(y - _ROW_GAP + _MARGIN, 2 * _MARGIN)


def _columns(text: str) -> int:
    return sum(1 if ord(character) < 0x1100 else 2 for character in text)


def _edge(before: _Box, after: _Box) -> str:
    x1, y1, x2, y2 = before.x + before.width / 2, before.y + before.height, after.x + after.width / 2, after.y
    middle = (y1 + y2) / 2
    return f'<path d="M{x1:.1f} {y1:.1f} C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"/>'


def _draw(box: _Box) -> str:
    texts = "".join(
        f'<text x="{box.x + _PADDING:.1f}" y="{box.y + _PADDING / 2 + _LINE * (number + 0.75):.1f}"'
        f"{'' if number == 0 else ' class=' + chr(34) + 'more' + chr(34)}>{escape(line)}</text>"
        for number, line in enumerate(box.lines)
    )
    rect = f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="6"/>'
    return f'<g class="{box.kind}">{rect}{texts}</g>'
