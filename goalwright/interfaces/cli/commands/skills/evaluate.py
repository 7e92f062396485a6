"""`goalwright skills eval`: measure how well labelled goals find their skills."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.skills.open_workspace import warn
from goalwright.interfaces.cli.option_value import option_value
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.evaluation.evaluate import Evaluation, Outcome
    from goalwright_skills.evaluation.explain import Explainer
    from goalwright_skills.evaluation.labelled import LabelledGoal
    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill

_SHARE = click.FloatRange(0, 1)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class EvalBounds:
    """The bounds of --check, with the names of the measures."""

    r_at_1: float | None
    r_at_5: float | None
    r_at_30: float | None
    set_recall: float | None
    nothing_selected: int | None
    picked_for_none: int | None
    allow_misses: int | None

    def given(self) -> dict[str, float]:
        """Return the bounds on measures that were given."""
        bounds = asdict(self) | {"allow_misses": None}
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def missed(self, evaluation: Evaluation) -> Iterator[str]:
        """Yield the bounds that are missed. Without bounds, every miss counts."""
        from goalwright.interfaces.cli.view.reports import selection as view

        allowed, bounds = self.allow_misses or 0, self.given()
        count = sum(bool(miss.outcome.missing) or not bounds for miss in evaluation.misses)
        if count > allowed:
            yield f"{counted(count, 'goal')} missed" + (f", more than {allowed:,}" if allowed else "")
        yield from view.below(evaluation, bounds)


@click.command("eval")
@click.argument("source", metavar="FILE")
@click.option("--pool", metavar="NAME", help='Only goals of this pool: lines with `"pool": NAME`.')
@click.option(
    "--check",
    is_flag=True,
    help="Exit with status 1 if a bound is missed; without bounds, on any miss.",
)
@option_value(
    "bounds",
    EvalBounds,
    click.option(
        "--min-r-at-1",
        "r_at_1",
        type=_SHARE,
        metavar="X",
        help="Least share of goals whose expected skill ranks first.",
    ),
    click.option(
        "--min-r-at-5",
        "r_at_5",
        type=_SHARE,
        metavar="X",
        help="Least share of goals whose expected skill ranks in the first 5.",
    ),
    click.option(
        "--min-r-at-30",
        "r_at_30",
        type=_SHARE,
        metavar="X",
        help="Least share of goals whose expected skill ranks in the first 30.",
    ),
    click.option(
        "--min-set-recall",
        "set_recall",
        type=_SHARE,
        metavar="X",
        help="Least share of expected skills that are selected.",
    ),
    click.option(
        "--max-nothing-selected",
        "nothing_selected",
        type=click.IntRange(0),
        metavar="N",
        help="Most goals that need a skill but get none.",
    ),
    click.option(
        "--max-picked-for-none",
        "picked_for_none",
        type=click.IntRange(0),
        metavar="N",
        help="Most goals that need no skill but get one.",
    ),
    click.option(
        "--allow-misses",
        type=click.IntRange(0),
        metavar="N",
        help="With --check: the number of goals that may miss (default: 0).",
    ),
)
@options.selecting_model
@options.skills
@options.common
def evaluate(
    source: str,
    pool: str | None,
    workspace: Path,
    flags: SettingFlags,
    bounds: EvalBounds,
    mode: OutputMode,
    *,
    check: bool,
) -> int:
    """Measure how well labelled goals find their skills.

    FILE (`-`: stdin) has one JSON object per line: a goal and the skills that should be selected, or null. Each miss is
    explained: which skill came first and why, and which words the description of the expected skill lacks. Measures are
    printed for each `set`, or else `pool`, of the lines.

    \b
    A line:
      {"goal": "Write release notes for 1.2", "expected": "release-notes"}
      {"id": "q7", "goal": "Review the diff, then write tests", "expected": ["code-review", "test-planning"]}
      {"goal": "What is your name?", "expected": null}

    \b
    Examples:
      goalwright skills eval goals.jsonl
      goalwright skills eval goals.jsonl --json > eval.json
      goalwright skills eval goals.jsonl --check --allow-misses 3 --min-r-at-1 0.8 --max-picked-for-none 2

    Exit status: 0 done; 1 with --check, if a bound is missed; 2 wrong usage or an invalid line.
    """
    from goalwright.interfaces.cli.commands.skills.select import with_llm_detector
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.selection import detectors

    if (bounds.given() or bounds.allow_misses is not None) and not check:
        raise InputError(
            "bounds have no effect without --check", hint="add --check to exit with status 1 if one is missed"
        )
    goals = read_goals(source, pool)
    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags, quiet=mode.quiet).settings
    skills = WorkspaceSkills(where, settings)

    def work(detector: SkillDetector | None = None) -> int:
        return _evaluate(goals, skills, detector or skills.detector, bounds if check else None, mode)

    if settings.detector != detectors.ASKING:
        return work()
    return with_llm_detector(where.workspace, settings, mode, work)


def read_goals(source: str, pool: str | None = None, *, labelled: bool = True) -> list[LabelledGoal]:
    """Read goals from a file or stdin, all or those of one pool."""
    from goalwright_skills.evaluation import labelled as goal_file

    if source == "-":
        goals = goal_file.parse(sys.stdin.buffer.read(), "stdin", labelled=labelled)
    else:
        goals = goal_file.read(Path(source), labelled=labelled)
    chosen = [goal for goal in goals if pool is None or goal.pool == pool]
    if not chosen:
        pools = sorted({goal.pool for goal in goals if goal.pool})
        listed, hint = (f"; pools are: {', '.join(pools)}", "name one of these") if pools else ("", "leave --pool out")
        name = "stdin" if source == "-" else source
        raise InputError(f"{name} has no goals of the pool {pool!r}{listed}", hint=hint)
    return chosen


def _evaluate(
    goals: Sequence[LabelledGoal],
    skills: WorkspaceSkills,
    detector: SkillDetector,
    bounds: EvalBounds | None,
    mode: OutputMode,
) -> int:
    from goalwright.interfaces.cli.view.progress import counter
    from goalwright.interfaces.cli.view.reports import selection as view
    from goalwright_skills.evaluation.evaluate import Evaluation, evaluate

    active = skills.preferences.selectable(skills.active())
    warn(skills.registry, verbose=mode.verbose, quiet=mode.quiet, more=skills.warnings)
    explainer = explainer_of(skills, active, detector)
    if not mode.quiet:
        say_unknown(goals, explainer)
    total = f"of {counted(len(goals), 'goal')}"

    def counted_off(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        with counter(lambda done: f"{done:,} {total}", quiet=mode.quiet) as note:
            for done, outcome in enumerate(outcomes, 1):
                yield outcome
                note(done)

    evaluation = Evaluation.of(counted_off(evaluate(goals, active, detector)), explainer.why)
    if mode.as_json:
        output.print_json(view.document(evaluation))
    else:
        view.print_evaluation(evaluation, explainer, every=mode.verbose)
    worse = list(bounds.missed(evaluation)) if bounds is not None else []
    for text in worse:
        output.say(f"check failed: {text}")
    return 1 if worse else 0


def _absent(row: Skill) -> str:
    """Return why a skill cannot be selected."""
    if row.kind == "executable":
        return "a tool"
    return f"{row.state} ({row.reason})" if row.state != "active" else "used only by name"


def explainer_of(skills: WorkspaceSkills, active: Sequence[Skill], detector: SkillDetector) -> Explainer:
    """Return the explainer of a detector's misses."""
    from goalwright_skills.evaluation.explain import Explainer

    return Explainer(active, detector, {row.name: _absent(row) for row in skills.registry.list_skills(all=True)})


def say_unknown(goals: Sequence[LabelledGoal], explainer: Explainer) -> None:
    """Warn about expected skills that cannot be selected."""
    for text in _unknown(goals, explainer):
        output.say_warning(text)


def _unknown(goals: Sequence[LabelledGoal], explainer: Explainer) -> Iterator[str]:
    """Yield a warning for each expected skill that cannot be selected; the last line counts the others."""
    names: dict[str, list[int]] = {}
    for goal in goals:
        for name in goal.expected or ():
            names.setdefault(name, []).append(goal.line)
    unknown = [(reason, lines) for name, lines in names.items() if (reason := explainer.unknown(name))]
    for reason, lines in unknown[:_MOST_NAMED]:
        yield f"{reason}; expected on line {lines[0]}" + (f" and {len(lines) - 1:,} more" if lines[1:] else "")
    if others := unknown[_MOST_NAMED:]:
        expecting = sum(len(lines) for _, lines in others)
        yield f"{len(others):,} more expected skills, of {counted(expecting, 'goal')}, are missing"
