"""Plans that are given on the command line: a file, or stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli import stdin

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.runs.plans.plan_file import PlanFile
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.events import ConversationTurn


def read_plan(goalwright: Goalwright, path: Path, seen: ConversationTurn | None = None) -> PlanFile:
    """The plan in a file, or on stdin (`-`), checked against the workspace, and what its turn sees of earlier ones."""
    from goalwright.runs.plans import plan_file

    known = goalwright.workspace.known(seen.earlier_ids if seen is not None else ())
    if str(path) == "-":
        return plan_file.parse(stdin.stdin_text("the plan"), "on stdin", known)
    return plan_file.read(path, known)
