"""`goalwright replay --select`: select skills again and show what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Resolved
    from goalwright.traces.reselect import Reselection

_DRIFT = 3


def show(runs: Sequence[str], where: Paths, resolved: Resolved, mode: OutputMode, *, check: bool) -> int:
    """Select skills again and print what differs; with `check`, a difference sets the exit status."""
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
        what = f"{counted(len(by_model), 'run')} left out: the detector that selected their skills asks a model"
        hint = "compare them by another detector, such as --detector ranked"
        if not reselections:
            raise InputError(what, hint=hint)
        output.say_warning(f"{what}; {hint}")
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
