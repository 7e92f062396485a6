"""Scores beside how often the skill is the right one: as a table, and as a plot in SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BINS = 10
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
)
_SIDE, _EDGE = 320, 44
_COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8e6c8a", "#b08900", "#444444")


@dataclass(frozen=True, slots=True)
class Bin:
    """The scores of one tenth: their mean, the share of right ones, and how many there are."""

    score: float
    right: float
    count: int


def bins(scored: Sequence[tuple[float, bool]]) -> list[Bin]:
    """The tenths that have scores, lowest first."""
    found = []
    for number in range(BINS):
        here = [one for one in scored if number == min(int(one[0] * BINS), BINS - 1)]
        if here:
            mean = sum(score for score, _ in here) / len(here)
            found.append(Bin(mean, sum(right for _, right in here) / len(here), len(here)))
    return found


def error(found: Sequence[Bin]) -> float:
    """The expected calibration error: how far scores are from the truth, on average."""
    total = sum(one.count for one in found)
    return sum(one.count * abs(one.score - one.right) for one in found) / total


def table(name: str, found: Sequence[Bin]) -> str:
    """A row: each tenth's mean score, the share that was right, and the number of goals."""
    cells = "  ".join(f"{one.score:.2f}→{one.right:.2f} ({one.count})" for one in found)
    return f"{name:<40} error {error(found):.3f}   {cells}"


def plot(curves: Mapping[str, Sequence[Bin]]) -> str:
    """The curves as an SVG image; on the diagonal a score is exactly as often right as it says."""
    size = _SIDE + 2 * _EDGE
    parts = [
        _HEAD.format(width=size + 260, height=size),
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#999"/>',
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#999" stroke-dasharray="4"/>',
        f'<text x="{_x(0.5)}" y="{size - 8}" text-anchor="middle">score</text>',
        f'<text x="12" y="{_y(0.5)}" transform="rotate(-90 12 {_y(0.5)})" text-anchor="middle">right</text>',
    ]
    for tick in (0, 0.5, 1):
        parts.append(f'<text x="{_x(tick)}" y="{_y(0) + 16}" text-anchor="middle">{tick}</text>')
        parts.append(f'<text x="{_x(0) - 6}" y="{_y(tick) + 4}" text-anchor="end">{tick}</text>')
    for number, (name, found) in enumerate(curves.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(f"{_x(one.score):.1f},{_y(one.right):.1f}" for one in found)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{_x(one.score):.1f}" cy="{_y(one.right):.1f}" r="{min(7, 2 + one.count**0.5 / 5):.1f}" '
            f'fill="{colour}"/>'
            for one in found
        ]
        row = _EDGE + 16 + 20 * number
        label = name.replace("&", "&amp;").replace("<", "&lt;")
        parts.append(f'<text x="{size}" y="{row}" fill="{colour}">{label}, error {error(found):.3f}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _x(value: float) -> float:
    return _EDGE + _SIDE * value


def _y(value: float) -> float:
    return _EDGE + _SIDE * (1 - value)
