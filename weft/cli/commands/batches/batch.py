"""`weft batch`: run every goal of a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli import options
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.batch.options import BatchOptions, ClusterOptions

_RATE = click.FloatRange(0, min_open=True)
_SETTINGS = (
    "model", "fallback", "timeout", "cache", "detector", "strict_skills", "unsafe_tools", "journal", "max_replans",
    "tools", "workspace_writes", "allow_web",
)  # fmt: skip
# Passed on to BatchOptions as they are.
_OPTIONS = (
    "jobs", "max_calls", "rpm", "tpm", "max_cost", "max_tokens", "errors", "resume", "retry_errors", "rerun_changed",
    "limit", "shuffle", "dedupe", "repeat", "approve_all",
)  # fmt: skip


@click.command()
@click.argument("file")
@options.output_file("Write results to this file, one line per goal.", required=True)
@click.option("--errors", type=click.Path(path_type=Path), help="Write goals that are not done to this file instead.")
@click.option("--jobs", type=click.IntRange(1), help="Run at most N goals at a time (default: as --max-calls allows).")
@click.option(
    "--max-calls", type=click.IntRange(1), default=32, show_default=True, help="Model calls at a time, for all goals."
)
@click.option("--rpm", type=_RATE, help="Calls per minute, for each model.")
@click.option("--tpm", type=_RATE, help="Tokens per minute, for each model.")
@click.option("--resume", is_flag=True, help="Continue an earlier run of this batch; finished goals are skipped.")
@click.option("--retry-errors", is_flag=True, help="With --resume: retry failed goals.")
@click.option("--rerun-changed", is_flag=True, help="With --resume: rerun goals that have changed since.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first goal that fails.")
@click.option("--max-failures", metavar="N|P%", help="Stop when more goals than this have failed.")
@click.option("--limit", type=click.IntRange(1), help="Run at most N goals (with --shuffle, N at random).")
@click.option("--shuffle", is_flag=True, help="Run goals in random order.")
@click.option("--dedupe", is_flag=True, help="Make identical calls once.")
@click.option("--models", metavar="NAMES", help="Experiment: run each goal with each of these models (a,b,c).")
@click.option("--repeat", type=click.IntRange(1), default=1, help="Experiment: run each goal N times.")
@click.option("--dry-run", is_flag=True, help="Show what would be selected, with an estimate; make no call.")
@options.named_models
@click.option("--max-cost", type=float, help="Budget of the batch in US dollars; --resume starts a new count.")
@click.option("--max-tokens", type=int, help="Budget of the batch in tokens; --resume starts a new count.")
@click.option("--timeout", type=float, help="Seconds that each goal may take.")
@options.cache
@click.option("--max-replans", type=click.IntRange(0), help="Plans may change N times in each goal (default: 0).")
@click.option("--engine", type=click.Choice(["ray"]), help="Run the goals in workers, by Ray, on one or many machines.")
@click.option("--address", metavar="auto|HOST:PORT", help="With --engine: the Ray cluster (default: start Ray here).")
@click.option(
    "--workers", type=click.IntRange(1), help="With --engine: processes that run goals (default: one a core)."
)
@click.option("--slots", type=click.IntRange(1), default=32, show_default=True, help="Goals at a time in each worker.")
@click.option(
    "--drain", type=click.FloatRange(0), default=60.0, help="Seconds that running goals have to end when stopped."
)
@click.option("--allow-open-cluster", is_flag=True, help="Use a cluster of other machines without authentication.")
@options.yes
@options.skills
@options.tools
@options.powers
@options.approve_all
@options.journal
@options.common
def batch(file: str, workspace: Path, target: Path, *, dry_run: bool, trust: bool, yes: bool, **flags: Any) -> int:
    """Run every goal of FILE (.jsonl, .txt, .csv, .yaml, or `-`) and write one line of results for each.

    A line of JSONL is {"goal": "…"}, optionally with "id", "skills", "model", "vars" and "plan". The whole file is
    checked before anything runs.

    \b
    Examples:
      weft batch goals.jsonl -o results.jsonl
      weft batch goals.txt -o results.jsonl --max-calls 64 --rpm 500 --max-cost 10
      weft batch goals.jsonl -o results.jsonl --resume --retry-errors
      weft batch goals.jsonl -o compared.jsonl --models openai/gpt-4o,anthropic/claude-sonnet-4-5 --repeat 3
      weft batch goals.jsonl -o again.jsonl --cache 30
      weft batch goals.jsonl -o results.jsonl --engine ray --workers 4

    A goal that needs your approval or answer waits, with status `waiting`, while the others go on. `weft approvals`
    lists what for; answer with `weft resume`, then continue the batch with --resume.

    Exit status: 0 all goals done, 1 some not, 2 wrong usage or input, 4 no model or key, 5 stopped by a limit,
    6 some wait for your answer and none failed, 130 interrupted.
    """
    from weft.batch.batch_settings import batch_settings
    from weft.batch.run_batch import open_batch
    from weft.cli import trust_prompt
    from weft.cli.commands.batches import run

    mode = OutputMode(flags.pop("as_json"), flags.pop("quiet"), flags.pop("verbose"))
    chosen = _batch_options(flags)
    if chosen.errors is not None and chosen.errors.absolute() == target.absolute():
        raise InputError("-o and --errors name the same file", hint="name another one, or leave --errors out")
    where = options.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    resolved = options.settings(where, {name: flags[name] for name in _SETTINGS}, quiet=mode.quiet)
    if not dry_run:
        options.announce_journal(where, resolved, quiet=mode.quiet)
    settings = batch_settings(resolved)
    with open_batch(file, target, workspace=workspace, settings=settings, options=chosen, dry_run=dry_run) as opened:
        for key, line in opened.goals.unused.items():
            output.say_warning(f"{opened.goals.name}, line {line}: unknown key {key!r}; it is ignored")
        if dry_run:
            return run.show_preview(opened, mode)
        return run.run_to_exit(opened, mode, trust=trust, yes=yes)


def _batch_options(flags: Mapping[str, Any]) -> BatchOptions:
    from weft.batch.options import BatchOptions

    if not flags["resume"] and (flags["retry_errors"] or flags["rerun_changed"]):
        raise InputError("--retry-errors and --rerun-changed need --resume", hint="add --resume, or leave them out")
    for name in ("max_cost", "max_tokens"):
        if flags[name] is not None and not flags[name] > 0:
            flag = name.replace("_", "-")
            raise InputError(
                f"--{flag} must be above 0, not {flags[name]:g}", hint=f"give a budget, or leave --{flag} out"
            )
    failures, share = _max_failures("0" if flags["fail_fast"] else flags["max_failures"])
    models = tuple(dict.fromkeys(filter(None, (name.strip() for name in (flags["models"] or "").split(",")))))
    given = {name: flags[name] for name in _OPTIONS}
    return BatchOptions(
        **given, max_failures=failures, max_failure_share=share, models=models, cluster=_cluster_options(flags)
    )


def _cluster_options(flags: Mapping[str, Any]) -> ClusterOptions | None:
    from weft.batch.options import ClusterOptions

    address, workers = flags["address"], flags["workers"]
    if flags["engine"] is None:
        if address or workers or flags["allow_open_cluster"]:
            raise InputError("--address, --workers and --allow-open-cluster need --engine ray", hint="add --engine ray")
        return None
    return ClusterOptions(address, workers, flags["slots"], flags["drain"], flags["allow_open_cluster"])


def _max_failures(text: str | None) -> tuple[float | None, float | None]:
    """`--max-failures` as a number of goals, or as a share of those that ended."""
    if text is None:
        return None, None
    if not re.fullmatch(r"\d+(\.\d+)?%?", text):
        raise InputError(f"--max-failures {text!r} is neither a number nor a percentage", hint="such as 20 or 5%")
    number = float(text.rstrip("%"))
    return (None, number / 100) if text.endswith("%") else (number, None)
