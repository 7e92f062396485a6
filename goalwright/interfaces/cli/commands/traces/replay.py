"""`goalwright replay`: replay recorded runs without calling a model."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output, width
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.settings.paths import Paths
    from goalwright.settings.resolve import Resolved
    from goalwright.settings.settings import Settings
    from goalwright.traces.reselect import Reselection
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
        return print_reselection(runs, where, resolved, mode, check=check)
    if not runs:
        raise InputError("no run or file to replay was named", hint="`goalwright trace list` shows the recorded runs")
    if strict:
        return _replay_strictly(runs, where, settings, mode)

    if mode.as_json:
        return print_results(runs, where, settings)
    return play_back(runs, where, settings, speed)


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


_DRIFT = 3


def print_reselection(runs: Sequence[str], where: Paths, resolved: Resolved, mode: OutputMode, *, check: bool) -> int:
    """Select skills again and print the differences; returns 3 for a difference under `check`."""
    from goalwright.traces.read import recorded_selections
    from goalwright.traces.reselect import reselect
    from goalwright.workspace.workspace import Workspace

    settings = resolved.settings
    workspace = Workspace(where, settings)
    detector = settings.detector if "detector" in resolved.origins else None
    recorded, by_model = recorded_selections(runs, where, settings), list[str]()
    left_out = None if runs else by_model
    reselections = list(reselect(recorded, workspace, detector=detector, left_out=left_out))
    if by_model:
        omitted = f"{counted(len(by_model), 'run')} left out: a model selected their skills"
        hint = "compare them with another detector, such as --detector ranked"
        if not reselections:
            raise InputError(omitted, hint=hint)
        output.say_warning(f"{omitted}; {hint}")
    drifted = [reselection for reselection in reselections if reselection.drifted]
    if mode.as_json:
        output.print_json([reselection.to_dict() for reselection in reselections])
    else:
        for reselection in reselections if mode.verbose else drifted:
            output.print_text(_describe(reselection))
        rescored = sum(bool(reselection.scores) and not reselection.drifted for reselection in reselections)
        scores = f", {rescored} with changed scores only" if rescored else ""
        output.print_text(f"{counted(len(reselections), 'run')}, {len(drifted)} selected differently{scores}")
    return _DRIFT if check and drifted else 0


def _describe(reselection: Reselection) -> str:
    document = reselection.to_dict()
    parts = [f"{reselection.run_id}  {' '.join(reselection.goal.split())[:70]}"]
    parts += [f"  + {name}" for name in document["added"]]
    parts += [f"  - {name}" for name in document["dropped"]]
    if reselection.drifted and not document["added"] and not document["dropped"]:
        parts.append(f"  order: {', '.join(document['then'])} → {', '.join(document['now'])}")
    parts += [f"  {name}: {then:.3f} → {now:.3f}" for name, then, now in reselection.scores]
    return "\n".join(parts)


_LONGEST_PAUSE = 10.0  # seconds
_INDENT = 11  # columns of the time in front of a line


def play_back(runs: Sequence[str], where: Paths, settings: Settings, speed: float) -> int:
    """Print each event with the elapsed time of the run; with a speed, pause in between."""
    from goalwright.interfaces.cli.view.event_text import describe
    from goalwright.runs.stored import records
    from goalwright.traces.read import find_traces
    from goalwright.traces.timeline import Clock
    from goalwright_planner.events import RunFinished, RunResumed, RunStarted, decode

    max_width = width.of(sys.stdout)

    def show_line(seconds: float, text: str) -> None:
        output.print_text(width.wrap(f"{seconds:7.1f} s  {text}", max_width, _INDENT))

    for trace in find_traces(runs, where, settings):
        capture = records.capture(where, trace.run_id)
        clock = Clock()
        for row in trace.rows():
            if not output.has_reader():
                return 0
            before = clock.seconds
            now = clock.advance(datetime.fromisoformat(row.at), resumed=row.type == "run_resumed")
            if speed > 0:
                time.sleep(min((now - before) / speed, _LONGEST_PAUSE))
            event = decode(row.type, capture.local(row.body))
            match event:
                case None:
                    continue
                case RunStarted():
                    output.print_text(width.wrap(f"run {event.run_id}: {event.goal}", max_width))
                case RunFinished():
                    reason = f": {event.error}" if event.error and event.error != event.status else ""
                    show_line(now, f"{event.status}{reason}")
                    output.print_result(event.answer or "(no answer)")
                case RunResumed():
                    show_line(now, "resumed")
                case _:
                    if (text := describe(event)) is not None:
                        show_line(now, text)
    return 0


def print_results(runs: Sequence[str], where: Paths, settings: Settings) -> int:
    """Print the results of recorded runs as `goalwright run --json` does."""
    from goalwright.runs.stored import records
    from goalwright.traces.read import find_traces
    from goalwright_executor.history.run_history import RunHistory

    results = [
        RunHistory.of(trace.rows(), records.capture(where, trace.run_id)).ledger.result(trace.journal).to_dict()
        for trace in find_traces(runs, where, settings)
    ]
    output.print_json(results[0] if len(results) == 1 else results)
    return 0
