"""The flags of `goalwright eval` that are not settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.batches.batch_flags import check_resume
from goalwright.interfaces.cli.option_value import option_value, together
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright.batch.options import BatchOptions, ClusterOptions


@dataclass(frozen=True, slots=True)
class LimitFlags:
    """The rates and budgets of the runs, and whether an earlier evaluation continues."""

    jobs: int | None
    max_calls: int
    rpm: float | None
    tpm: float | None
    resume: bool
    retry_errors: bool
    rerun_changed: bool
    max_cost: float | None
    max_tokens: int | None

    def options(self, cluster: ClusterOptions | None = None, *, approve_all: bool = False) -> BatchOptions:
        """Return the options of the batch that runs the cases; raises if flags contradict each other."""
        from goalwright.batch.options import BatchOptions

        check_resume(resume=self.resume, again=self.retry_errors or self.rerun_changed)
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return BatchOptions(**values, approve_all=approve_all, cluster=cluster)


@dataclass(frozen=True, slots=True)
class CheckFlags:
    """The bounds of --check."""

    check: bool
    min_pass: float | None
    no_worse: bool
    max_cost_ratio: float | None

    def __post_init__(self) -> None:
        has_bounds = self.min_pass is not None or self.no_worse or self.max_cost_ratio is not None
        if has_bounds and not self.check:
            raise InputError(
                "bounds have no effect without --check", hint="add --check to exit with 1 if one is missed"
            )
        if self.check and not has_bounds:
            raise InputError("--check needs a bound", hint="add --min-pass .8, --no-worse or --max-cost-ratio 1.5")

    def check_variants(self, count: int) -> None:
        """Raise if a bound compares variants and there is only one."""
        if count < 2 and (self.no_worse or self.max_cost_ratio is not None):
            flag = "--no-worse" if self.no_worse else "--max-cost-ratio"
            raise InputError(f"{flag} compares variants, and there is only one", hint="name two with --variant")

    def missed(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield every bound that a report misses; the first of several variants is the baseline and has none."""
        first, *others = document["variants"]
        for variant in others or [first]:
            rate = variant["pass_rate"]
            if self.min_pass is not None and (rate is None or rate < self.min_pass):
                shown = "no checks" if rate is None else f"{rate:.2f}"
                yield f"{variant['name']}: the pass rate is {shown}, not {self.min_pass:g}"
        for variant in others if self.max_cost_ratio is not None else ():
            yield from self._costs(first, variant)
        for difference in document["differences"] if self.no_worse else ():
            if difference["mean"] is None:
                yield f"{difference['variant']}: no case shows whether it is worse than {difference['against']}"
            elif difference["worse"]:
                yield f"{difference['variant']}: worse than {difference['against']} in {', '.join(difference['worse'])}"

    def _costs(self, first: Mapping[str, Any], variant: Mapping[str, Any]) -> Iterator[str]:
        before, after = first["cost_usd"], variant["cost_usd"]
        most = self.max_cost_ratio or 0.0
        if before is None or after is None:
            yield f"{variant['name']}: the cost is unknown"
        elif after > most * before:
            times = f"{after / before:.2f} times" if before else "infinitely"
            yield f"{variant['name']}: it costs {times} as much as {first['name']}, more than {most:g} times"


judge = click.option("--judge", metavar="NAME", help="Model that judges expectations (default: the setting judge).")
pairwise = click.option("--pairwise", is_flag=True, help="Have the judge compare the answers of two variants.")
_limits = option_value(
    "limit_flags",
    LimitFlags,
    click.option("--jobs", type=click.IntRange(1), metavar="N", help="Run at most N cases at a time."),
    options.call_rates,
    click.option("--resume", is_flag=True, help="Continue the last evaluation of these cases and variants."),
    click.option("--retry-errors", is_flag=True, help="With --resume: retry failed cases."),
    click.option(
        "--rerun-changed", is_flag=True, help="With --resume: rerun cases whose text, model or skills have changed."
    ),
    click.option("--max-cost", type=options.ABOVE_ZERO, metavar="USD", help="Budget in US dollars, judges included."),
    click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Budget in tokens, judges included."),
)
limits = together(
    _limits,
    options.named_models,
    options.unknown_cost,
    options.setting(click.option("--timeout", type=float, metavar="SECONDS", help="Stop each run after this time.")),
)
checks = option_value(
    "check_flags",
    CheckFlags,
    click.option("--check", is_flag=True, help="Exit with status 1 if a bound is missed, for CI."),
    click.option("--min-pass", type=click.FloatRange(0, 1), metavar="X", help="With --check: the lowest pass rate."),
    click.option("--no-worse", is_flag=True, help="With --check: no case may get worse."),
    click.option(
        "--max-cost-ratio",
        type=options.ABOVE_ZERO,
        metavar="X",
        help="With --check: the highest cost, as a multiple of the first variant's.",
    ),
)
reported = together(
    checks,
    click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write the report as a page."),
)
