"""Learn the ranking's weights from development goals, and print what they come to on the half that was left out.

    python -m training.ranking CORPUS --tools DATA/ultratool --tools DATA/tmdb --clones CLONES
    python -m training.ranking CORPUS --measure            the installed weights, without learning

Needs numpy and scipy. CORPUS is a folder with `skills/<collection>/…/SKILL.md` and `queries.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.selection.ranking.combination import FILE, Combination

from training.ranking import report
from training.ranking.development import Development


def main() -> None:
    """Learn, write and measure."""
    parser = argparse.ArgumentParser(
        prog="python -m training.ranking", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--tools", type=Path, action="append", default=[], help="a folder in TaskBench's form")
    parser.add_argument("--clones", type=Path, help="clones of public repositories, for goals of further collections")
    parser.add_argument("--table", type=Path, help="an encoder's table; the installed one without it")
    parser.add_argument("-o", "--out", type=Path, default=FILE, help="where the weights go")
    parser.add_argument(
        "--keep-order", action="store_true", help="keep the installed weights of the order, learn the rest"
    )
    parser.add_argument(
        "--only", default="", metavar="SIGNAL", help="with --keep-order, learn this signal's weights too"
    )
    parser.add_argument("--measure", action="store_true", help="measure the installed weights only")
    parser.add_argument("--half", choices=("tune", "report"), default="report", help="which half to measure")
    given = parser.parse_args()
    table = Table.open(given.table) if given.table else Table.shipped()
    with tempfile.TemporaryDirectory() as made:
        development = Development.read(given.corpus, given.tools, Path(made), given.clones)
        if not given.measure:
            learn(development, table, given.out, keep_order=given.keep_order, only=given.only)
            if given.out != FILE:
                return  # what is installed is not what was learnt
        found = report.outcomes(development, lambda: RankedDetector(table=table), [given.half])
        print("\n".join(report.lines(found)))


def learn(development: Development, table: Table, out: Path, *, keep_order: bool = False, only: str = "") -> None:
    """Learn from the half `tune` and write the weights."""
    from training.ranking.fitting import fit, installed
    from training.ranking.reading import read_all

    reads = [read for read in read_all(development, table) if read.goal.half == "tune"]
    document = fit(reads, installed() if keep_order else None, only).document()
    out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    Combination.shipped.cache_clear()


if __name__ == "__main__":
    main()
