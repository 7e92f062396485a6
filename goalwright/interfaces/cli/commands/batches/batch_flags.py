"""The flags of `goalwright batch` that are not settings."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.option_value import option_value
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.batch.options import BatchOptions, ClusterOptions


@dataclass(frozen=True, slots=True)
class BatchFlags:
    """The goals to run, the rates, and the limits."""

    errors: Path | None
    jobs: int | None
    max_calls: int
    rpm: float | None
    tpm: float | None
    resume: bool
    retry_errors: bool
    rerun_changed: bool
    fail_fast: bool
    max_failures: str | None
    limit: int | None
    shuffle: bool
    dedupe: bool
    max_cost: float | None = None
    max_tokens: int | None = None

    def options(self, cluster: ClusterOptions | None, *, approve_all: bool) -> BatchOptions:
        """Return the options of the batch; raises if flags contradict each other."""
        from goalwright.batch.options import BatchOptions

        check_resume(resume=self.resume, again=self.retry_errors or self.rerun_changed)
        for flag, budget in (("--max-cost", self.max_cost), ("--max-tokens", self.max_tokens)):
            if budget is not None and not budget > 0:
                raise InputError(f"{flag} must be above 0, not {budget:g}", hint=f"give a budget, or leave {flag} out")
        failures, share = _max_failures("0" if self.fail_fast else self.max_failures)
        values = asdict(self) | {"max_failures": failures, "max_failure_share": share}
        del values["fail_fast"]
        return BatchOptions(**values, approve_all=approve_all, cluster=cluster)


def check_resume(*, resume: bool, again: bool) -> None:
    """Raise if goals are to be run `again` without --resume."""
    if again and not resume:
        raise InputError("--retry-errors and --rerun-changed need --resume", hint="add --resume, or leave them out")


@dataclass(frozen=True, slots=True)
class ClusterFlags:
    """The cluster that runs the goals."""

    engine: str | None
    address: str | None
    workers: int | None
    slots: int
    drain: float
    allow_open_cluster: bool

    def options(self) -> ClusterOptions | None:
        """Return the options of the cluster; None if the goals run in this process."""
        from goalwright.batch.options import ClusterOptions

        if self.engine is not None:
            return ClusterOptions(self.address, self.workers, self.slots, self.drain, self.allow_open_cluster)
        if self.address or self.workers or self.allow_open_cluster:
            raise InputError("--address, --workers and --allow-open-cluster need --engine ray", hint="add --engine ray")
        return None


goals_and_limits = option_value(
    "batch_flags",
    BatchFlags,
    click.option("--errors", type=click.Path(path_type=Path), help="Write unfinished goals to this file instead."),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        metavar="N",
        help="Run at most N goals at a time (default: limited by --max-calls).",
    ),
    options.call_rates,
    click.option("--resume", is_flag=True, help="Continue this batch; finished goals are skipped."),
    click.option("--retry-errors", is_flag=True, help="With --resume: retry failed goals."),
    click.option(
        "--rerun-changed", is_flag=True, help="With --resume: rerun goals whose line, model or skills have changed."
    ),
    click.option("--fail-fast", is_flag=True, help="Stop at the first goal that fails."),
    click.option("--max-failures", metavar="N|P%", help="Stop once more goals than this have failed."),
    click.option(
        "--limit",
        type=click.IntRange(1),
        metavar="N",
        help="Run at most N goals; with --resume, earlier ones count too.",
    ),
    click.option("--shuffle", is_flag=True, help="Run goals in random order."),
    click.option("--dedupe", is_flag=True, help="Make identical model calls once."),
)
budget = option_value(
    "batch_flags",
    BatchFlags,
    click.option(
        "--max-cost",
        type=float,
        metavar="USD",
        help="Budget of the whole batch in US dollars, counted anew by --resume.",
    ),
    click.option(
        "--max-tokens", type=int, metavar="N", help="Budget of the whole batch in tokens, counted anew by --resume."
    ),
)
cluster = option_value(
    "cluster_flags",
    ClusterFlags,
    click.option(
        "--engine", type=click.Choice(["ray"]), help="Run the goals in Ray workers, on one machine or several."
    ),
    click.option(
        "--address",
        metavar="auto|HOST:PORT",
        help="With --engine: address of the Ray cluster (default: start Ray here).",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="With --engine: run goals in N processes (default: one per core).",
    ),
    click.option(
        "--slots",
        type=click.IntRange(1),
        default=32,
        show_default=True,
        metavar="N",
        help="Run at most N goals at a time in each worker.",
    ),
    click.option(
        "--drain",
        type=click.FloatRange(0),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Time for running goals to finish when the batch is stopped.",
    ),
    click.option(
        "--allow-open-cluster", is_flag=True, help="Use a cluster of several machines without authentication."
    ),
)


def _max_failures(text: str | None) -> tuple[float | None, float | None]:
    """Parse --max-failures into a number of goals, or a share of the finished ones."""
    if text is None:
        return None, None
    if not re.fullmatch(r"\d+(\.\d+)?%?", text):
        raise InputError(f"--max-failures {text!r} is neither a number nor a percentage", hint="such as 20 or 5%")
    number = float(text.rstrip("%"))
    return (None, number / 100) if text.endswith("%") else (number, None)
