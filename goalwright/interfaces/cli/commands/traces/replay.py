"""`goalwright replay`: replay recorded runs without calling a model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright.traces.strict_replay import Replay

_DRIFT = 3


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN|FILE]...", callback=stdin.or_stdin)
@click.option("--strict", is_flag=True, help="Run again with the recorded replies and report what differs.")
@click.option("--select", "selection", is_flag=True, help="Only select skills again and report what differs.")
@click.option("--check", is_flag=True, help="With --select: exit with status 3 if a selection differs.")
@options.setting(
    click.option(
        "--detector", metavar="NAME", help="With --select: detector to use (default: as configured, else as recorded)."
    )
)
@click.option(
    "--speed",
    type=click.FloatRange(0),
    default=0.0,
    metavar="N",
    help="Without --strict and --select: play back N times as fast (default: without pauses).",
)
@options.journal
@options.common
def replay(
    runs: tuple[str, ...],
    workspace: Path,
    speed: float,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    strict: bool,
    selection: bool,
    check: bool,
) -> int:
    """Replay recorded runs without calling a model.

    RUN is a run's id, a prefix of it, or `last`; FILE is an exported trace (`-`: stdin).

    \b
      --strict   run again with the recorded replies; a prompt, skill or plan that differs is drift
      --select   only select skills again (default: for all runs): a regression test for your skills
      neither    play the run back on the terminal

    \b
    Examples:
      goalwright replay last --strict
      goalwright replay --select --check
      goalwright replay tests/runs/*.jsonl --strict

    Exit status: 0 no differences, 2 no such run or file, 3 drift (with --select, only if --check is given).
    """
    if strict and selection:
        raise InputError("--strict and --select cannot be combined", hint="choose one")
    if check and not (strict or selection):
        hint = "add --select, or --strict, which reports every difference with exit status 3"
        raise InputError("--check needs --select", hint=hint)
    if flags.detector is not None and not selection:
        raise InputError("--detector needs --select", hint="add --select, or leave --detector out")
    where = configuration.paths(workspace)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    settings = resolved.settings
    if selection:
        from goalwright.interfaces.cli.commands.traces import reselection

        return reselection.show(runs, where, resolved, mode, check=check)
    if not runs:
        raise InputError("no run or file to replay was named", hint="`goalwright trace list` shows the recorded runs")
    if strict:
        return _replay_strictly(runs, where, settings, mode)
    from goalwright.interfaces.cli.commands.traces import playback

    if mode.as_json:
        return playback.print_results(runs, where, settings)
    return playback.show(runs, where, settings, speed)


def _replay_strictly(runs: tuple[str, ...], where: Paths, settings: Settings, mode: OutputMode) -> int:
    from goalwright.traces import strict_replay
    from goalwright.traces.read import find_traces

    async def replay_all() -> list[Replay]:
        return [
            await strict_replay.strict(trace.rows(), where, settings, journal=trace.journal)
            for trace in find_traces(runs, where, settings)
        ]

    replays = asyncio.run(replay_all())
    if mode.as_json:
        documents = [replay.to_dict() for replay in replays]
        output.print_json(documents[0] if len(documents) == 1 else documents)
    for replay in replays:
        for drift in replay.drift:
            output.say(f"drift in {replay.result.run_id}, {drift.where}: {drift.what}")
        if not mode.as_json:
            count = counted(len(replay.drift), "difference") if replay.drift else "no differences"
            output.print_text(f"{replay.result.run_id}: {replay.result.status}, {count}")
    return _DRIFT if any(replay.drift for replay in replays) else 0
