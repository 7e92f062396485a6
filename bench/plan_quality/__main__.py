"""`python -m bench.plan_quality SETS`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench.local_model import largest
from bench.plan_quality.compare import Side, by_published, by_weft
from bench.plan_quality.goals import HALVES, sample
from bench.plan_quality.served import ServedModel
from bench.plan_quality.sets import FOLDERS, goal_set
from weft.local.server import Load, Server
from weft_planner.prompting.profile import FULL, fitting

# The tool list of UltraTool alone has 14,000 tokens.
_CONTEXT = 20_480
_MOST_TOKENS = 1_000


def main() -> int:
    """Measure the sets that are there, and print a row for each side."""
    given = _parser().parse_args()
    installed = largest()
    if installed is None:
        print("no model is installed: run `weft models pull`", file=sys.stderr)
        return 2
    small = fitting("small", installed.record.name)
    with Server(Load(installed.path, context=_CONTEXT, slots=1)) as server:
        model = ServedModel(server.endpoint(), _MOST_TOKENS)
        for name in given.only or FOLDERS:
            folder = given.sets / FOLDERS[name]
            if not folder.is_dir():
                print(f"{name}: left out, there is no {folder}", file=sys.stderr)
                continue
            found = goal_set(name)
            goals = sample(found.read(folder), given.goals, given.half)
            profile = FULL if name == "nestful" else small
            sides = {"weft": by_weft(found, goals, model, profile)}
            if not given.weft_only:
                sides["published prompt"] = by_published(found, goals, model)
            for side, figures in sides.items():
                row = _row(name, side, figures, found.measures)
                print(json.dumps(row) if given.json else _line(row), flush=True)
    return 0


def _row(name: str, side: str, found: Side, measures: tuple[str, ...]) -> dict[str, Any]:
    goals = len(found.figures)
    return {
        "set": name,
        "side": side,
        "goals": goals,
        "figures": {
            measure: {"mean": round(found.mean(at), 3), "interval": [round(end, 3) for end in found.range(at)]}
            for at, measure in enumerate(measures)
        },
        "calls": found.usage.calls,
        "prompt_tokens": round(found.usage.prompt_tokens / goals) if goals else 0,
        "answer_tokens": round(found.usage.completion_tokens / goals) if goals else 0,
        "by_rule": found.by_rule,
        "repaired": found.repaired,
        "asked_again": found.asked_again,
        "refused": found.refused,
    }


def _line(row: dict[str, Any]) -> str:
    figures = ", ".join(
        f"{measure} {one['mean']:.2f} ({one['interval'][0]:.2f} to {one['interval'][1]:.2f})"
        for measure, one in row["figures"].items()
    )
    tokens = f"{row['prompt_tokens']} + {row['answer_tokens']} tokens a goal"
    read = f"{row['by_rule']} by rule, {row['repaired']} repaired, {row['asked_again']} asked again"
    return f"{row['set']}, {row['goals']} goals, {row['side']}: {figures}; {tokens}; {read}, {row['refused']} refused"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.plan_quality",
        description="Measure weft's plans against public gold graphs, beside each set's own prompt.",
        epilog="example: python -m bench.plan_quality ~/sets --only tmdb --goals 12",
    )
    parser.add_argument("sets", type=Path, metavar="SETS", help="a folder with checkouts of the sets")
    parser.add_argument("--goals", type=int, default=12, metavar="N", help="goals of each set (default: 12)")
    parser.add_argument("--half", choices=HALVES, default="report", help="which half (default: report)")
    parser.add_argument("--only", action="append", choices=list(FOLDERS), metavar="NAME", help="a set; may be repeated")
    parser.add_argument("--weft-only", action="store_true", help="leave the sets' own prompts out")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
