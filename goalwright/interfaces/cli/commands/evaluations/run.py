"""`goalwright eval CASES…`: run cases, check the answers, and compare variants."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.commands.batches import batch_flags
from goalwright.interfaces.cli.commands.evaluations import eval_flags
from goalwright.interfaces.cli.configuration import SettingFlags
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.evaluation.trials import Variant
    from goalwright.interfaces.cli.commands.batches.batch_flags import ClusterFlags
    from goalwright.interfaces.cli.commands.evaluations.eval_flags import CheckFlags, LimitFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.settings.paths import Paths


@click.command("run", cls=SectionedCommand)
@click.argument("cases", nargs=-1, required=True)
@click.option("--variant", "variants", multiple=True, metavar="NAME=FLAGS", help="Compare this variant (repeatable).")
@click.option(
    "--repeat", type=click.IntRange(1), metavar="N", help="Run each case N times (default: 1; with variants, 3)."
)
@eval_flags.judge
@eval_flags.pairwise
@eval_flags.reported
@eval_flags.limits
@batch_flags.cluster
@options.yes
@options.strict_skills
@options.any_setting
@options.trust
@options.powers
@options.approve_all
@options.journal
@options.common
def run(
    cases: tuple[str, ...],
    workspace: Path,
    variants: tuple[str, ...],
    repeat: int | None,
    judge: str | None,
    html: Path | None,
    limit_flags: LimitFlags,
    check_flags: CheckFlags,
    cluster_flags: ClusterFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    pairwise: bool,
    trust: bool,
    approve_all: bool,
    yes: bool,
) -> int:
    """Run cases, check each answer, and compare variants.

    CASES are files of JSON lines or YAML (`-`: stdin), a goal file of `goalwright batch`, or a skill's folder with
    evals/evals.json.
    FLAGS of a variant are flags of `goalwright run`, as one quoted text: --model, --skill, --without, --skills-dir,
    --seed-dir, -c KEY=VALUE. Each variant is compared with the first one.

    \b
    Examples:
      goalwright eval cases.jsonl
      goalwright eval cases.jsonl --variant 'without=--without pdf-forms' --variant 'with=--skill pdf-forms'
      goalwright eval cases.jsonl --variant 'a=--model openai/gpt-6.1-sol' --variant 'b=--model openai/gpt-6-luna'
      goalwright eval cases.jsonl --check --min-pass .8
      goalwright eval cases.jsonl --resume
      jq -c 'select(.tags[]? == "short")' cases.jsonl | goalwright eval -

    Exit status: 0 evaluated, with any scores; 1 a bound of --check is missed; 2 wrong usage or input; 4 no model
    or key; 5 stopped by a budget; 130 interrupted.
    """
    from goalwright.batch.options import batch_settings
    from goalwright.evaluation.evaluate import EvaluationOptions, open_evaluation
    from goalwright.interfaces.cli.commands.evaluations.execution import run_to_exit
    from goalwright.interfaces.cli.dialogs import trust_prompt

    check_flags.check_variants(len(variants))
    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    chosen = EvaluationOptions(
        repeat, judge, pairwise, trust, limit_flags.options(cluster_flags.options(), approve_all=approve_all)
    )
    with open_evaluation(
        cases,
        read_variants(variants, where, flags),
        workspace=workspace,
        settings=batch_settings(resolved),
        options=chosen,
        flags=flags.given(),
    ) as evaluation:
        return run_to_exit(evaluation, mode, check_flags, html, trust=trust, yes=yes)


@click.command(add_help_option=False)
@options.named_models
@options.strict_skills
@options.replans
@options.powers
@options.skill_choice
@click.option("--skill", "skills", multiple=True)
def _parsed(flags: SettingFlags, skills: tuple[str, ...]) -> tuple[SettingFlags, tuple[str, ...]]:
    return flags, skills


def read_variants(texts: Sequence[str], where: Paths, base: SettingFlags) -> list[Variant]:
    """Parse the variants; raises if one is not NAME=FLAGS, or has a flag that variants cannot have."""
    return [_variant(text, where, base) for text in texts]


def _variant(text: str, where: Paths, base: SettingFlags) -> Variant:
    from goalwright.evaluation.trials import Variant

    name, equals, words = text.partition("=")
    if not equals or not name.strip():
        raise InputError(
            f"--variant {text!r}: a variant is NAME=FLAGS", hint="such as --variant 'with=--skill pdf-forms'"
        )
    try:
        flags, skills = _parsed.main(shlex.split(words), standalone_mode=False)
    except ValueError as error:
        raise InputError(f"--variant {name}: {error}", hint="quote the flags as one text") from error
    except click.ClickException as error:
        raise InputError(
            f"--variant {name}: {error.format_message()}",
            hint="use flags of `goalwright run`: --model, --skill, --without, --skills-dir, --seed-dir, -c KEY=VALUE",
        ) from error
    return Variant(name.strip(), _settings(flags, where, base), skills)


def _settings(flags: SettingFlags, where: Paths, base: SettingFlags) -> dict[str, Any]:
    """Return the settings that a variant changes, with their values."""
    both = SettingFlags(**{field.name: _joined(base, flags, field.name) for field in fields(SettingFlags)})
    resolved = configuration.settings(where, both, quiet=True).settings
    return {name: getattr(resolved, name) for name in flags.given()}


def _joined(base: SettingFlags, flags: SettingFlags, name: str) -> Any:
    before, own = getattr(base, name), getattr(flags, name)
    if name in ("skills_without", "changes"):
        return (*before, *own)
    return before if own in (None, ()) else own
