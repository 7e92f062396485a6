"""Writes docs/benchmarks.md from the saved figures of each benchmark.

The figures are saved beside the page, so that running one benchmark keeps the sections of the others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bench.harness import plot
from bench.harness.machine import ROOT
from bench.harness.text import heading, number

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "benchmarks.md"
FOLDER = ROOT / "docs" / "benchmarks"
# With more tables, only those of the smallest and the largest size are shown.
_MOST_TABLES = 4
INTRODUCTION = """# Benchmarks

goalwright beside the least that the work can cost (the floor), and beside other projects. All contenders of a
benchmark run in turn on the same machine. A cell holds the median and its ratio to the floor; ranges over all rounds,
versions and machines are in [benchmarks/](benchmarks). Measure again with:

<!-- not run: takes minutes; `.ci/run` runs the quick form -->

```sh
python -m bench                                # all: about 15 minutes, longer the first time
python -m bench engine journal                 # some of them
python -m bench batch skills_scale --corpus DIR   # with real skills and goals: DIR/skills and DIR/queries.jsonl
python -m bench --quick                        # seconds each, to check that they run
```

This writes the page. On a busy machine, compare ratios, not times.
"""


def save(figures: dict[str, Any], folder: Path = FOLDER) -> None:
    """Save the figures and the plot of one benchmark."""
    folder.mkdir(exist_ok=True)
    text = json.dumps(figures, indent=1, ensure_ascii=False)
    (folder / f"{figures['name']}.json").write_text(text + "\n", encoding="utf-8")
    (folder / f"{figures['name']}.svg").write_text(plot.svg(figures), encoding="utf-8")


def write(order: tuple[str, ...] = (), path: Path = PAGE, folder: Path = FOLDER) -> Path:
    """Write the page from all saved figures."""
    saved = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}
    names = [name for name in order if name in saved] + [name for name in saved if name not in order]
    parts = [INTRODUCTION]
    if missing := [f"`{name}`" for name in order if name not in saved]:
        parts.append(f"Not measured yet: {', '.join(missing)}.\n")
    parts += [_aims([saved[name] for name in names]), *(_section(saved[name]) for name in names)]
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _aims(benchmarks: list[dict[str, Any]]) -> str:
    """Count the aims that are met, and list the others."""
    aims = [(benchmark["name"], aim) for benchmark in benchmarks for aim in benchmark["aims"]]
    missed = [
        f"| {name} | {aim['what']} | {number(aim['value'])} | {_bound(aim)} | {aim.get('reason', '')} |"
        for name, aim in aims
        if not aim["holds"]
    ]
    count = f"{len(aims) - len(missed)} of {len(aims)} aims are met."
    table = ["", "| missed | figure | measured | aim | reason |", "|---|---|---|---|---|", *missed] if missed else []
    return "\n".join(["## Aims", "", count, *table, ""])


def _bound(aim: dict[str, Any]) -> str:
    return f"≤ {number(aim['at_most'])}" if "at_most" in aim else f"≥ {number(aim['at_least'])}"


def _section(benchmark: dict[str, Any]) -> str:
    name, measured = benchmark["name"], benchmark["measured"]
    source = ", ".join(measured[key] for key in ("date", "commit", "machine") if key in measured)
    lines = [f"## {name}", "", f"{benchmark['what']} Floor: {benchmark['floor']}", ""]
    tables = benchmark["tables"]
    for table in tables if len(tables) <= _MOST_TABLES else [*tables[:2], *tables[-2:]]:
        lines += _table(table)
    if len(tables) > _MOST_TABLES:
        lines += [f"The sizes in between are in [{name}.json](benchmarks/{name}.json).", ""]
    lines += [f"![{name}](benchmarks/{name}.svg)", "", " ".join([*map(_sentence, benchmark["notes"]), f"{source}."])]
    return "\n".join([*lines, ""])


def _sentence(note: str) -> str:
    return note if note.endswith(".") else f"{note}."


def _table(table: dict[str, Any]) -> list[str]:
    heads = [heading(column["name"], column["unit"]) for column in table["columns"]]
    lines = [f"| {table['title']} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for subject, row in table["rows"].items():
        lines.append(f"| {subject} | {' | '.join(map(_cell, row))} |")
    return [*lines, ""]


def _cell(cell: dict[str, Any]) -> str:
    from bench.harness.result import Cell

    median = Cell(tuple(cell["samples"]), cell.get("note", "")).value
    if median is None:
        return cell.get("note") or "–"
    return number(median) + (f" · {number(cell['ratio'])}x" if cell["ratio"] is not None else "")
