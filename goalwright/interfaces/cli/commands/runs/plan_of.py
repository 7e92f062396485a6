"""`goalwright plan --of RUN`: the plan of a recorded run, to look at or to edit."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from goalwright.interfaces.cli import configuration
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright_planner.plan.plan import Plan


def plan_of(workspace: Path, run: str, flags: SettingFlags) -> tuple[Plan, str, str]:
    """The plan of a run as it was last, the run's goal, and what a person should know who edits it."""
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stored import records

    where = configuration.paths(workspace)
    settings = configuration.settings(where, flags, quiet=True).settings
    store = records.recorded_runs(where, settings)
    first = records.first_event(store, run, where)
    store.close()
    goalwright = Goalwright(workspace, settings)
    try:
        editable = goalwright.plan_of(first.run_id)
    finally:
        asyncio.run(goalwright.close())
    lines = [f"The plan of run {first.run_id}.", *editable.comments(), f"Continue with: {command(first.run_id)}"]
    return editable.plan, first.goal, "".join(f"# {line}\n" for line in map(output.escape_controls, lines))


def command(run_id: str, target: Path | None = None) -> str:
    """The command that continues a run with an edited plan."""
    return shlex.join([output.program(), "resume", run_id, "--plan", str(target) if target is not None else "FILE"])
