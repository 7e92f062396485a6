"""`weft replay`: a recorded run again, without a model: strictly, its selection alone, or as it went."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from skills.text.plural import counted
from weft.cli import options
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from pathlib import Path

    from weft.settings.paths import Paths
    from weft.settings.settings import Settings
    from weft.traces.strict_replay import Replay

_DRIFT = 3


@click.command(short_help="Play a recorded run again, without a model.")
@click.argument("runs", nargs=-1, metavar="[RUN|FILE]...", callback=options.or_stdin)
@click.option("--strict", is_flag=True, help="Run it again with the recorded replies; say what would differ today.")
@click.option("--select", "selection", is_flag=True, help="Select skills again; say what would differ today.")
@click.option("--check", is_flag=True, help="With --select: exit 3 where the selection differs.")
@click.option("--detector", metavar="NAME", help="With --select: how skills are selected (default: as set).")
@click.option(
    "--speed",
    type=click.FloatRange(0),
    default=0.0,
    help="Without either: how many times as fast (default: no pauses).",
)
@options.journal
@options.common
def replay(runs: tuple[str, ...], workspace: Path, **rest: Any) -> int:
    """Play recorded RUNs (ids, beginnings of ids, `last`) or exported FILEs (`-`: stdin) again. No model is asked.

    \b
      --strict   the whole run again with the recorded replies; a prompt, skill or plan that differs is drift
      --select   only the selection, for any number of runs (default: all): a regression test for your skills
      neither    shows the run on the terminal as it went

    \b
    Examples:
      weft replay last --strict
      weft replay --select --check
      weft replay tests/runs/*.jsonl --strict

    Exit status: 0 nothing differs, 2 no such run, 3 drift.
    """
    mode = OutputMode(rest["as_json"], rest["quiet"], rest["verbose"])
    if rest["strict"] and rest["selection"]:
        raise InputError("--strict and --select are two things", hint="choose one")
    where = options.paths(workspace)
    flags = {"journal": rest["journal"], "detector": rest["detector"]}
    resolved = options.settings(where, flags, quiet=mode.quiet)
    settings = resolved.settings
    if rest["selection"]:
        from weft.cli.commands.traces import reselection

        return reselection.show(runs, where, resolved, mode, check=rest["check"])
    if not runs:
        raise InputError("name a run or a file to replay", hint="`weft trace list` shows the runs there are")
    if rest["strict"]:
        return _strict(runs, where, settings, mode)
    from weft.cli.commands.traces import playback

    if mode.as_json:
        return playback.document(runs, where, settings)
    return playback.show(runs, where, settings, rest["speed"])


def _strict(runs: tuple[str, ...], where: Paths, settings: Settings, mode: OutputMode) -> int:
    from weft.traces import read as traces
    from weft.traces import strict_replay

    async def each() -> list[Replay]:
        return [
            await strict_replay.strict(trace.rows(), where, settings, journal=trace.journal)
            for trace in traces.named(runs, where, settings)
        ]

    done = asyncio.run(each())
    if mode.as_json:
        documents = [one.to_dict() for one in done]
        output.print_json(documents[0] if len(documents) == 1 else documents)
    for one in done:
        for drift in one.drift:
            output.say(f"drift in {one.result.run_id}, {drift.where}: {drift.what}")
        if not mode.as_json:
            said = counted(len(one.drift), "difference") if one.drift else "nothing differs"
            output.print_text(f"{one.result.run_id}: {one.result.status}, {said}")
    return _DRIFT if any(one.drift for one in done) else 0
