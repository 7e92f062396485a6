"""Renders results for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.harness.result import Aim, Cell, Measured, Table


def render(measured: Measured, *, quick: bool = False) -> str:
    """Render the tables and aims of a benchmark."""
    findings = measured.findings
    parts = [f"{measured.benchmark.name}: {measured.benchmark.what} ({measured.seconds:.0f} s)"]
    parts += [_table(table) for table in findings.tables]
    parts += [
        f"  {'met   ' if aim.holds else 'missed'}  {aim_line(aim)}"
        for aim in findings.aims
        if aim.is_count or not quick
    ]
    parts += [f"  {note}" for note in findings.notes]
    missing = {name: reason for name, reason in measured.peers.items() if reason.startswith("not ")}
    parts += [f"  {name}: {reason}" for name, reason in missing.items()]
    return "\n".join(parts) + "\n"


def about(machine: Mapping[str, str]) -> str:
    """Render the machine, the versions and the commit, one per line."""
    return "\n".join(f"{name + ':':<12}{value}" for name, value in machine.items())


def aim_line(aim: Aim) -> str:
    """Render a figure, its bound, and the reason of a miss."""
    bound = f"{'at most' if aim.at_most else 'at least'} {number(aim.bound)}"
    reason = f": {aim.reason}" if aim.reason and not aim.holds else ""
    return f"{aim.what}: {number(aim.value)} ({bound}){reason}"


def number(value: float) -> str:
    """Format a number with three significant digits and thousands separators."""
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def figure(cell: Cell, ratio: float | None) -> str:
    """Format a median, its range and its ratio to the floor."""
    if cell.value is None:
        return cell.note or "–"
    low, high = min(cell.samples), max(cell.samples)
    spread = f" ({number(low)}–{number(high)})" if number(low) != number(high) else ""
    return number(cell.value) + spread + (f" · {number(ratio)}x" if ratio is not None else "")


def heading(name: str, unit: str) -> str:
    """Return a column's name with its unit."""
    return f"{name} ({unit})" if unit else name


def _table(table: Table) -> str:
    lines = [["", *(heading(column.name, column.unit) for column in table.columns)]]
    for subject, row in table.rows.items():
        lines.append([subject, *(figure(cell, table.ratio(subject, at)) for at, cell in enumerate(row))])
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    rows = ["    ".join(f"{part:<{width}}" for part, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([f"  {table.title}", *(f"    {row.rstrip()}" for row in rows)])
