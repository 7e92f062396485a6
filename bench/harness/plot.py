"""Plots as SVG: one panel per column of a table, with a dot for each median and a line for its range."""

from __future__ import annotations

from html import escape
from math import log10
from typing import Any, NamedTuple

from bench.harness.text import heading, number

WIDTH, LABELS, VALUES, ROW, HEAD, GAP = 440, 150, 70, 18, 30, 16
ACROSS = 2
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600 }
.track { stroke: #e4e4e4 }
.range { stroke-width: 3; stroke-linecap: round; opacity: .45 }
.goalwright { fill: #b3261e; stroke: #b3261e }
.floor { fill: #777; stroke: #777 }
.peer { fill: #1b6ca8; stroke: #1b6ca8 }
text.goalwright { stroke: none }
.note { fill: #888; font-size: 11px }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .track { stroke: #444 } .note { fill: #999 }
  .goalwright { fill: #ff8a80; stroke: #ff8a80 } .floor { fill: #aaa; stroke: #aaa }
  .peer { fill: #7cc0f2; stroke: #7cc0f2 }
}
"""


class Scale(NamedTuple):
    """An axis from 0 to 1, logarithmic if values differ more than tenfold."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(cls, values: list[float]) -> Scale:
        """Return a scale that fits the values."""
        low, high = min(values), max(values)
        if low > 0 and high / low > 10:
            return cls(low / 1.5, high * 1.2, logarithmic=True)
        return cls(min(0.0, low), high * 1.1 or 1.0, logarithmic=False)

    def at(self, value: float) -> float:
        """Return the position of a value."""
        if self.logarithmic:
            return (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return (value - self.low) / (self.high - self.low)


def svg(found: dict[str, Any]) -> str:
    """Plot one benchmark."""
    panels = [(table, at) for table in found["tables"] if table["is_plotted"] for at in range(len(table["columns"]))]
    parts, top = [], GAP
    for start in range(0, len(panels), ACROSS):
        row = panels[start : start + ACROSS]
        for place, (table, at) in enumerate(row):
            parts += _panel(table, at, GAP + place * (WIDTH + GAP), top)
        top += max(HEAD + ROW * len(table["rows"]) for table, _ in row) + GAP
    width = ACROSS * (WIDTH + GAP) + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}">'
    title = f"<title>{escape(found['name'])}: {escape(found['what'])}</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def _panel(table: dict[str, Any], at: int, left: int, top: int) -> list[str]:
    column = table["columns"][at]
    values = [sample for row in table["rows"].values() for sample in row[at]["samples"]]
    name = heading(column["name"], column["unit"])
    scale = Scale.of(values) if values else Scale(0.0, 1.0, logarithmic=False)
    title = f"{table['title']}: {name}" + (", logarithmic" if scale.logarithmic else "")
    parts = [f'<text class="title" x="{left}" y="{top + 12}">{escape(title)}</text>']
    for number_, (subject, row) in enumerate(table["rows"].items()):
        middle = top + HEAD + ROW * number_ + ROW // 2
        parts += _row(subject, row[at], scale, left, middle, table["floor"])
    return parts


def _row(subject: str, cell: dict[str, Any], scale: Scale, left: int, middle: int, floor: str) -> list[str]:
    kind = "floor" if subject == floor else "goalwright" if subject.startswith("goalwright") else "peer"
    start, end = left + LABELS, left + WIDTH - VALUES
    css_class = kind if kind == "goalwright" else ""
    label = f'<text class="{css_class}" x="{left}" y="{middle + 4}">{escape(_cut(subject))}</text>'
    track = f'<line class="track" x1="{start}" x2="{end}" y1="{middle}" y2="{middle}"/>'
    if cell["median"] is None:
        note = escape(_cut(cell.get("note", "") or "not measured", 36))
        return [label, track, f'<text class="note" x="{start + 6}" y="{middle + 4}">{note}</text>']

    def place(value: float) -> str:
        return f"{start + scale.at(value) * (end - start):.1f}"

    low, middle_, high = place(min(cell["samples"])), place(cell["median"]), place(max(cell["samples"]))
    return [
        label,
        track,
        f'<line class="range {kind}" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>',
        f'<circle class="{kind}" cx="{middle_}" cy="{middle}" r="4"/>',
        f'<text x="{end + 8}" y="{middle + 4}">{number(cell["median"])}</text>',
    ]


def _cut(text: str, length: int = 24) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
