"""What a benchmark is, and what it found."""

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
    """A figure: the samples of every round, or a note that says why there are none."""

    samples: tuple[float, ...] = ()
    note: str = ""

    @property
    def value(self) -> float | None:
        """The median of the samples."""
        return statistics.median(self.samples) if self.samples else None


@dataclass(frozen=True, slots=True)
class Column:
    """What a column of a table measures; `ratio` adds each row's ratio to the floor."""

    name: str
    unit: str = ""
    ratio: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Subjects by columns; ratios are to the row named `floor`."""

    title: str
    columns: tuple[Column, ...]
    rows: Mapping[str, Sequence[Cell]]
    floor: str = ""
    is_plotted: bool = True

    def ratio(self, subject: str, column: int) -> float | None:
        """A row's median over the floor's; None for the floor itself and where one of them is missing."""
        if not self.columns[column].ratio or not self.floor or subject == self.floor:
            return None
        floor, value = self.rows[self.floor][column].value, self.rows[subject][column].value
        return value / floor if value is not None and floor else None


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure and its bound; a `count` is judged even in a quick run, a time is not.

    `reason` says why it is missed, if it is known to be.
    """

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
    """What a benchmark found."""

    tables: tuple[Table, ...]
    aims: tuple[Aim, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How a benchmark is run: `quick` takes seconds and judges no time; `corpus` has real skills and goals."""

    quick: bool = False
    corpus: Path | None = None
    peers: Environments | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What is measured, against which floor, beside which peers."""

    name: str
    what: str
    floor: str
    peers: tuple[str, ...]
    run: Callable[[Options], Findings] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Measured:
    """A benchmark that was run: what it found, in how many seconds, and the versions of its peers."""

    benchmark: Benchmark
    findings: Findings
    seconds: float
    peers: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        about = {"name": self.benchmark.name, "what": self.benchmark.what, "floor": self.benchmark.floor}
        return about | {"peers": self.peers, "seconds": round(self.seconds, 1)} | to_dict(self.findings)

    def holds(self, *, quick: bool) -> bool:
        """Whether every aim is met; a quick run judges counts alone, never times."""
        return all(aim.holds for aim in self.findings.aims if aim.is_count or not quick)


def cells(*values: float | Sequence[float] | str) -> tuple[Cell, ...]:
    """A row: numbers, samples, or notes."""
    return tuple(map(_cell, values))


def _cell(value: float | Sequence[float] | str) -> Cell:
    if isinstance(value, str):
        return Cell(note=value)
    return Cell((float(value),)) if isinstance(value, int | float) else Cell(tuple(map(float, value)))


def to_dict(findings: Findings) -> dict[str, Any]:
    """Findings as JSON values."""
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
