"""`weft replay --select`: how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.plural import counted
from weft.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.cli.options import Voice
    from weft.places import Places
    from weft.reselect import Reselection
    from weft.settings import Resolved

_DRIFT = 3


def show(runs: Sequence[str], where: Places, resolved: Resolved, voice: Voice, *, check: bool) -> int:
    """Select again, print what differs, and with `check` say so in the exit status."""
    from weft import traces
    from weft.reselect import reselect
    from weft.surroundings import Surroundings

    settings = resolved.settings
    surroundings = Surroundings(where, settings)
    detector = settings.detector if "detector" in resolved.origins else None
    found = list(reselect(traces.selections(runs, where, settings), surroundings, detector=detector))
    drifted = [one for one in found if one.drifted]
    if voice.as_json:
        output.print_json([one.to_dict() for one in found])
    else:
        for one in found if voice.verbose else drifted:
            output.print_text(_described(one))
        moved = sum(bool(one.scores) and not one.drifted for one in found)
        scores = f", {moved} with other scores only" if moved else ""
        output.print_text(f"{counted(len(found), 'run')}, {len(drifted)} selected differently{scores}")
    return _DRIFT if check and drifted else 0


def _described(one: Reselection) -> str:
    document = one.to_dict()
    parts = [f"{one.run_id}  {' '.join(one.goal.split())[:70]}"]
    parts += [f"  + {name}" for name in document["added"]]
    parts += [f"  - {name}" for name in document["dropped"]]
    if one.drifted and not document["added"] and not document["dropped"]:
        parts.append(f"  order: {', '.join(document['then'])} → {', '.join(document['now'])}")
    parts += [f"  {name}: {was:.3f} → {now:.3f}" for name, was, now in one.scores]
    return "\n".join(parts)
