"""`weft replay --select`: select skills again and show what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli.view import output
from weft_skills.text.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.cli.view.output_mode import OutputMode
    from weft.settings.paths import Paths
    from weft.settings.settings import Resolved
    from weft.traces.reselect import Reselection

_DRIFT = 3


def show(runs: Sequence[str], where: Paths, resolved: Resolved, mode: OutputMode, *, check: bool) -> int:
    """Select skills again and print what differs; with `check`, a difference sets the exit status."""
    from weft.traces.read import recorded_selections
    from weft.traces.reselect import reselect
    from weft.workspace.workspace import Workspace

    settings = resolved.settings
    workspace = Workspace(where, settings)
    detector = settings.detector if "detector" in resolved.origins else None
    found = list(reselect(recorded_selections(runs, where, settings), workspace, detector=detector))
    drifted = [one for one in found if one.drifted]
    if mode.as_json:
        output.print_json([one.to_dict() for one in found])
    else:
        for one in found if mode.verbose else drifted:
            output.print_text(_describe(one))
        rescored = sum(bool(one.scores) and not one.drifted for one in found)
        scores = f", {rescored} with changed scores only" if rescored else ""
        output.print_text(f"{counted(len(found), 'run')}, {len(drifted)} selected differently{scores}")
    return _DRIFT if check and drifted else 0


def _describe(one: Reselection) -> str:
    document = one.to_dict()
    parts = [f"{one.run_id}  {' '.join(one.goal.split())[:70]}"]
    parts += [f"  + {name}" for name in document["added"]]
    parts += [f"  - {name}" for name in document["dropped"]]
    if one.drifted and not document["added"] and not document["dropped"]:
        parts.append(f"  order: {', '.join(document['then'])} → {', '.join(document['now'])}")
    parts += [f"  {name}: {then:.3f} → {now:.3f}" for name, then, now in one.scores]
    return "\n".join(parts)
