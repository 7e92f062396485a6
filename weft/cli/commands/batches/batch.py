"""`weft batch`: thousands of goals, unattended."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from weft.cli import options
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from weft.batch.runner import BatchOptions

# Nobody waits at the terminal: a provider that asks for fewer calls is given ten minutes.
_PATIENCE = 600.0
_RATE = click.FloatRange(0, min_open=True)


@click.command()
@click.argument("file")
@options.written("Write the results to this file, a line a goal.", required=True)
@click.option("--errors", type=click.Path(path_type=Path), help="Write goals that are not done to this file instead.")
@click.option("--jobs", type=click.IntRange(1), default=8, show_default=True, help="Goals at a time.")
@click.option(
    "--max-calls", type=click.IntRange(1), default=32, show_default=True, help="Model calls at a time, of all goals."
)
@click.option("--rpm", type=_RATE, help="Calls a minute, for each model.")
@click.option("--tpm", type=_RATE, help="Tokens a minute, for each model.")
@click.option("--resume", is_flag=True, help="Go on with an earlier sitting; goals that ended are left as they are.")
@click.option("--retry-errors", is_flag=True, help="With --resume: run those that did not end well again.")
@click.option("--rerun-changed", is_flag=True, help="With --resume: run goals that have changed since again.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first goal that fails.")
@click.option("--max-failures", metavar="N|P%", help="Stop when more goals than this failed.")
@click.option(
    "--limit", type=click.IntRange(1), help="Only the first so many goals of the file; with --shuffle, any so many."
)
@click.option("--shuffle", is_flag=True, help="In random order.")
@click.option("--dedupe", is_flag=True, help="Make identical calls once.")
@click.option("--models", metavar="NAMES", help="An experiment: each goal with each of these models (a,b,c).")
@click.option("--repeat", type=click.IntRange(1), default=1, help="An experiment: each goal so many times.")
@click.option("--dry-run", is_flag=True, help="Show what would be selected, and an estimate; make no call.")
@options.named_models
@click.option("--max-cost", type=float, help="US dollars that the whole batch may cost; with --resume counted anew.")
@click.option("--max-tokens", type=int, help="Tokens that the whole batch may use; with --resume counted anew.")
@click.option("--timeout", type=float, help="Seconds that each goal may take.")
@options.fetching
@options.skills
@options.tools
@options.journal
@options.common
def batch(file: str, workspace: Path, target: Path, **rest: Any) -> int:
    """Run every goal of FILE (.jsonl, .txt, .csv, .yaml, or `-`) and write a line of results for each.

    A line of JSONL is {"goal": "…"}, with "id", "skills", "model", "vars" and "plan" where you like. The whole file is
    checked first.

    \b
    Examples:
      weft batch goals.jsonl -o results.jsonl
      weft batch goals.txt -o results.jsonl --jobs 20 --rpm 500 --max-cost 10
      weft batch goals.jsonl -o results.jsonl --resume --retry-errors
      weft batch goals.jsonl -o compared.jsonl --models openai/gpt-4o,anthropic/claude-sonnet-4-5 --repeat 3

    Exit status: 0 all done, 1 some not, 2 wrong usage or input, 4 no model or key, 5 stopped by a limit,
    130 interrupted.
    """
    from weft.batch import results
    from weft.cli import trust_prompt
    from weft.cli.commands.batches.batch_run import Sitting

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    how = _batch_options(rest)
    if rest["errors"] is not None and rest["errors"].absolute() == target.absolute():
        raise InputError("-o and --errors name the same file", hint="name another one, or leave --errors out")
    where = options.paths(workspace)
    trust = rest.pop("trust")
    if trust:
        trust_prompt.workspace(where)
    names = ("model", "fallback", "timeout", "detector", "strict_skills", "unsafe_tools", "journal")
    resolved = options.settings(where, {name: rest[name] for name in names}, quiet=mode.quiet)
    # These two are the batch's, not each goal's, but bad ones are refused in the same words.
    options.settings(where, {name: rest[name] for name in ("max_cost", "max_tokens")}, quiet=True)
    settings = resolved.settings
    if "retry_patience" not in resolved.origins:
        settings = replace(settings, retry_patience=_PATIENCE)
    if not rest["dry_run"]:
        options.tell_journal(where, resolved, quiet=mode.quiet)
    if not rest["resume"] and not rest["dry_run"]:
        results.fresh(target, rest["errors"])
    return Sitting(workspace, settings, mode, target, rest | {"options": how}).run(file, trust=trust)


def _batch_options(flags: dict[str, Any]) -> BatchOptions:
    from weft.batch.runner import BatchOptions

    text = "0" if flags["fail_fast"] else flags["max_failures"]
    most, share = None, False
    if text is not None:
        if not re.fullmatch(r"\d+(\.\d+)?%?", text):
            raise InputError(f"--max-failures {text!r} is neither a number nor a share", hint="such as 20 or 5%")
        share = text.endswith("%")
        most = float(text.rstrip("%")) / (100 if share else 1)
    if not flags["resume"] and (flags["retry_errors"] or flags["rerun_changed"]):
        raise InputError("--retry-errors and --rerun-changed go with --resume", hint="add --resume, or leave them out")
    return BatchOptions(flags["jobs"], most, share, flags["retry_errors"], flags["rerun_changed"])
