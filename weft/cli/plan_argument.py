"""Plans that are given on the command line: a file, or stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli import stdin

if TYPE_CHECKING:
    from pathlib import Path

    from weft.runs.plans.plan_file import PlanFile
    from weft.runs.runtime import Weft
    from weft_planner.events import ConversationTurn


def read_plan(weft: Weft, path: Path, seen: ConversationTurn | None = None) -> PlanFile:
    """The plan in a file, or on stdin (`-`), checked against the workspace, and what its turn sees of earlier ones."""
    from weft.runs.plans import plan_file

    known = weft.workspace.known(seen.earlier_ids if seen is not None else ())
    if str(path) == "-":
        return plan_file.parse(stdin.stdin_text("the plan"), "on stdin", known)
    return plan_file.read(path, known)
