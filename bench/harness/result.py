"""Benchmarks and their results."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from bench.harness.peers import Environments


@dataclass(frozen=True, slots=True)
class Cell:
    """The samples of every round, or a note that explains why there are none."""

    samples: tuple[float, ...] = ()
    note: str = ""

    @property
    def value(self) -> float | None:
        """The median of the samples."""
        return statistics.median(self.samples) if self.samples else None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `ratio` adds each row's ratio to the floor."""

    name: str
    unit: str = ""
    ratio: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of subjects; ratios are relative to the row named `floor`."""

    title: str
    columns: tuple[Column, ...]
    rows: Mapping[str, Sequence[Cell]]
    floor: str = ""
    is_plotted: bool = True

    def ratio(self, subject: str, column: int) -> float | None:
        """Return a row's median over the floor's, or None for the floor itself and if either is missing."""
        if not self.columns[column].ratio or not self.floor or subject == self.floor:
            return None
        floor, value = self.rows[self.floor][column].value, self.rows[subject][column].value
        return value / floor if value is not None and floor else None


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure and its bound. Quick runs check counts, not times. `reason` explains a known miss."""

    what: str
    value: float
    bound: float
    at_most: bool = True
    is_count: bool = False
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure is within its bound."""
        return self.value <= self.bound if self.at_most else self.value >= self.bound


@dataclass(frozen=True, slots=True)
class Findings:
    """The tables, aims and notes of a benchmark."""

    tables: tuple[Table, ...]
    aims: tuple[Aim, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a run: `quick` takes seconds and checks no times; `corpus` has real skills and goals."""

    quick: bool = False
    corpus: Path | None = None
    peers: Environments | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: what it measures, its floor and its peers."""

    name: str
    what: str
    floor: str
    peers: tuple[str, ...]
    run: Callable[[Options], Findings] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one run of a benchmark."""

    benchmark: Benchmark
    findings: Findings
    seconds: float
    peers: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        about = {"name": self.benchmark.name, "what": self.benchmark.what, "floor": self.benchmark.floor}
        return about | {"peers": self.peers, "seconds": round(self.seconds, 1)} | to_dict(self.findings)

    def holds(self, *, quick: bool) -> bool:
        """Whether every aim is met; a quick run checks counts only."""
        return all(aim.holds for aim in self.findings.aims if aim.is_count or not quick)


def cells(*values: float | Sequence[float] | str) -> tuple[Cell, ...]:
    """Return a row of numbers, samples or notes."""
    return tuple(map(_cell, values))


def _cell(value: float | Sequence[float] | str) -> Cell:
    if isinstance(value, str):
        return Cell(note=value)
    return Cell((float(value),)) if isinstance(value, int | float) else Cell(tuple(map(float, value)))


def to_dict(findings: Findings) -> dict[str, Any]:
    """Return findings as JSON values."""
    return {
        "tables": [
            {
                "title": table.title,
                "floor": table.floor,
                "is_plotted": table.is_plotted,
                "columns": [{"name": column.name, "unit": column.unit} for column in table.columns],
                "rows": {
                    subject: [
                        {"median": cell.value, "samples": list(cell.samples), "ratio": table.ratio(subject, at)}
                        | ({"note": cell.note} if cell.note else {})
                        for at, cell in enumerate(row)
                    ]
                    for subject, row in table.rows.items()
                },
            }
            for table in findings.tables
        ],
        "aims": [
            {
                "what": aim.what,
                "value": aim.value,
                "at_most" if aim.at_most else "at_least": aim.bound,
                "holds": aim.holds,
            }
            | ({"reason": aim.reason} if aim.reason else {})
            for aim in findings.aims
        ],
        "notes": list(findings.notes),
    }
