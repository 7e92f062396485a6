"""`python -m plan_quality SETS`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.models.local.serving.server import Load, Server
from goalwright.models.local.store import ModelStore, models_dir
from goalwright_planner.prompting.profile import FULL, fitting
from goalwright_skills.errors import SetupError

from plan_quality.bulk import BulkModel
from plan_quality.compare import Side, by_goalwright, by_published
from plan_quality.goals import HALVES, sample
from plan_quality.kept_answers import KeptAnswers
from plan_quality.served import ServedModel
from plan_quality.sets import FOLDERS, goal_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.prompting.profile import Profile

    from plan_quality.goals import GoalSet, PlanGoal

# The tool list of UltraTool alone has 14,000 tokens.
_CONTEXT = 20_480
_MOST_TOKENS = 1_000
# The model of the kept answers.
_MODEL = "qwen2.5-coder-1.5b"


def main() -> int:
    """Measure the available sets and print a row for each side."""
    given = _parser().parse_args()
    try:
        with ExitStack() as stack:
            _measure(given, *_model(given, stack))
    except SetupError as error:
        print(f"{error}; {error.hint}" if error.hint else error, file=sys.stderr)
        return 2
    return 0


def _measure(given: argparse.Namespace, model: KeptAnswers, small: Profile) -> None:
    for name in given.only or FOLDERS:
        folder = given.sets / FOLDERS[name]
        if not folder.is_dir():
            print(f"{name}: left out, there is no {folder}", file=sys.stderr)
            continue
        found = goal_set(name)
        goals = sample(found.read(folder), given.goals, given.half)
        for side, figures in asyncio.run(
            _sides(found, goals, model, small, published=not given.goalwright_only)
        ).items():
            row = _row(name, side, figures, found.measures)
            print(json.dumps(row) if given.json else _line(row), flush=True)


async def _sides(
    found: GoalSet, goals: Sequence[PlanGoal], model: KeptAnswers, small: Profile, *, published: bool
) -> dict[str, Side]:
    profiles = {"goalwright, small models": small, "goalwright": FULL}
    sides = {side: await by_goalwright(found, goals, model, profile) for side, profile in profiles.items()}
    return sides | ({"published prompt": await by_published(found, goals, model)} if published else {})


def _model(given: argparse.Namespace, stack: ExitStack) -> tuple[KeptAnswers, Profile]:
    """Return the model or its kept answers, and the profile of small models."""
    if given.gguf is not None:
        return KeptAnswers(BulkModel(given.gguf, _MOST_TOKENS), given.answers), fitting("small", given.gguf.stem)
    if given.answers is not None and given.answers.exists():
        return KeptAnswers(None, given.answers), fitting("small", _MODEL)
    installed = max(ModelStore(models_dir()).installed(), key=lambda model: model.record.bytes, default=None)
    if installed is None:
        raise SetupError("no model is installed: run `goalwright models pull`")
    server = stack.enter_context(Server(Load(installed.path, context=_CONTEXT, slots=1)))
    model = ServedModel(server.endpoint(), _MOST_TOKENS)
    return KeptAnswers(model, given.answers), fitting("small", installed.record.name)


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
        prog="python -m plan_quality",
        description="Measure goalwright's plans against public gold graphs, beside each set's own prompt.",
        epilog="example: python -m plan_quality ~/sets --only tmdb --goals 12",
    )
    parser.add_argument("sets", type=Path, metavar="SETS", help="a folder with checkouts of the sets")
    parser.add_argument("--goals", type=int, default=12, metavar="N", help="goals of each set (default: 12)")
    parser.add_argument("--half", choices=HALVES, default="report", help="which half (default: report)")
    parser.add_argument("--only", action="append", choices=list(FOLDERS), metavar="NAME", help="a set; may be repeated")
    parser.add_argument("--goalwright-only", action="store_true", help="leave the sets' own prompts out")
    parser.add_argument("--gguf", type=Path, metavar="FILE", help="a model's weights, asked in bulk on an accelerator")
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="keep answers here; if the file is there, use them, and ask no model without --gguf",
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
