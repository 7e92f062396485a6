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
INTRODUCTION = """# Benchmarks

goalwright beside the least that the work can cost, and beside other projects. One command measures every figure, with
all contenders in the same run on the same machine:

<!-- not run: takes minutes; `.ci/run` runs the quick form -->

```sh
python -m bench                                # all: about 15 minutes, longer the first time
python -m bench engine journal                 # some of them
python -m bench batch skills_scale --corpus DIR   # with real skills and goals: DIR/skills and DIR/queries.jsonl
python -m bench --quick                        # seconds each, to check that they run
```

The command writes this page, and the plots and figures in [benchmarks/](benchmarks). Other projects are installed into
virtual environments in your cache folder; the page names those that cannot be installed. A cell holds the median, the
range over all rounds in brackets, and the ratio to the floor. Each section ends with the commit, the machine and its
load. On a busy machine, compare ratios, not times.

Selection quality beside BM25, TF-IDF and MiniLM, and plan quality on public sets, are measured in
`research/`.
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
    """Render all aims as one table."""
    rows = [
        f"| {benchmark['name']} | {aim['what']} | {number(aim['value'])} | {_bound(aim)} | {_verdict(aim)} |"
        for benchmark in benchmarks
        for aim in benchmark["aims"]
    ]
    return "\n".join(["## Aims", "", "| | figure | measured | aim | |", "|---|---|---|---|---|", *rows, ""])


def _bound(aim: dict[str, Any]) -> str:
    return f"≤ {number(aim['at_most'])}" if "at_most" in aim else f"≥ {number(aim['at_least'])}"


def _verdict(aim: dict[str, Any]) -> str:
    return "met" if aim["holds"] else f"**missed**{': ' + aim['reason'] if aim.get('reason') else ''}"


def _section(benchmark: dict[str, Any]) -> str:
    name = benchmark["name"]
    measured = "; ".join(f"{key} {value}" for key, value in benchmark["measured"].items())
    lines = [f"## {name}", "", benchmark["what"], "", f"Floor: {benchmark['floor']}", ""]
    if benchmark["peers"]:
        lines += ["Beside it: " + "; ".join(f"{key} ({value})" for key, value in benchmark["peers"].items()) + ".", ""]
    for table in benchmark["tables"]:
        lines += _table(table)
    lines += [f"![{name}](benchmarks/{name}.svg)", "", *(f"{note}\n" for note in benchmark["notes"])]
    lines += [f"Measured in {benchmark['seconds']:.0f} s: {measured}.", ""]
    return "\n".join(lines)


def _table(table: dict[str, Any]) -> list[str]:
    heads = [heading(column["name"], column["unit"]) for column in table["columns"]]
    lines = [f"### {table['title']}", "", f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for subject, row in table["rows"].items():
        lines.append(f"| {subject} | {' | '.join(map(_cell, row))} |")
    return [*lines, ""]


def _cell(cell: dict[str, Any]) -> str:
    from bench.harness.result import Cell
    from bench.harness.text import figure

    return figure(Cell(tuple(cell["samples"]), cell.get("note", "")), cell["ratio"])
