"""docs/benchmarks.md: a section for each benchmark, from the figures that were last kept for it.

A benchmark's figures are kept beside the page, so that running one of them leaves the sections of the others alone.
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

Where goalwright stands against the least that the work can cost, and against what you might use instead. One command measures
every figure, all contenders in the same run on the same machine:

<!-- not run: takes minutes; `.ci/run` runs the quick form -->

```sh
python -m bench                                # everything: about 15 minutes, longer the first time
python -m bench engine journal                 # some of them
python -m bench batch skills_scale --corpus DIR   # with real skills and goals: DIR/skills and DIR/queries.jsonl
python -m bench --quick                        # seconds each: does it still run?
```

The command writes this page, the plots and the figures in [benchmarks/](benchmarks). Other projects are installed into
virtual environments of their own, in your cache folder; what cannot be installed is said. A cell has the median, the
range over all rounds in brackets, and the ratio to the floor. Each section ends with the commit, the machine and its
load: on a busy machine, compare ratios, not times.
"""


def keep(found: dict[str, Any], folder: Path = FOLDER) -> None:
    """Keep the figures and the plots of one benchmark."""
    folder.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (folder / f"{found['name']}.json").write_text(text + "\n", encoding="utf-8")
    (folder / f"{found['name']}.svg").write_text(plot.svg(found), encoding="utf-8")


def write(order: tuple[str, ...] = (), path: Path = PAGE, folder: Path = FOLDER) -> Path:
    """Write the page from all figures that are kept."""
    kept = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}
    names = [name for name in order if name in kept] + [name for name in kept if name not in order]
    parts = [INTRODUCTION]
    if missing := [f"`{name}`" for name in order if name not in kept]:
        parts.append(f"Not measured yet: {', '.join(missing)}.\n")
    parts += [_aims([kept[name] for name in names]), *(_section(kept[name]) for name in names)]
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _aims(benchmarks: list[dict[str, Any]]) -> str:
    """All aims in one table."""
    rows = [
        f"| {found['name']} | {aim['what']} | {number(aim['value'])} | {_bound(aim)} | {_verdict(aim)} |"
        for found in benchmarks
        for aim in found["aims"]
    ]
    return "\n".join(["## Aims", "", "| | figure | measured | aim | |", "|---|---|---|---|---|", *rows, ""])


def _bound(aim: dict[str, Any]) -> str:
    return f"≤ {number(aim['at_most'])}" if "at_most" in aim else f"≥ {number(aim['at_least'])}"


def _verdict(aim: dict[str, Any]) -> str:
    return "met" if aim["holds"] else f"**missed**{': ' + aim['reason'] if aim.get('reason') else ''}"


def _section(found: dict[str, Any]) -> str:
    name = found["name"]
    measured = "; ".join(f"{key} {value}" for key, value in found["measured"].items())
    lines = [f"## {name}", "", found["what"], "", f"Floor: {found['floor']}", ""]
    if found["peers"]:
        lines += ["Beside it: " + "; ".join(f"{key} ({value})" for key, value in found["peers"].items()) + ".", ""]
    for table in found["tables"]:
        lines += _table(table)
    lines += [f"![{name}](benchmarks/{name}.svg)", "", *(f"{note}\n" for note in found["notes"])]
    lines += [f"Measured in {found['seconds']:.0f} s: {measured}.", ""]
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
