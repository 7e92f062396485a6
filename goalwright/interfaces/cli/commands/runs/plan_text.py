"""A plan as `goalwright plan` prints or writes it, in the format that is asked for."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import output, whole_file, width

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_planner.plan.plan import Plan

_SUFFIXES = {".json": "json", ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg"}


def format_of(target: Path | None) -> str:
    """The format of a file, by its suffix."""
    return _SUFFIXES.get(target.suffix.lower(), "yaml") if target is not None else "yaml"


def text_of(made: Plan, form: str, goal: str = "") -> str:
    """The plan in a form; a question has no graph, so it is printed as YAML."""
    from goalwright.interfaces.cli.view import plan_graph
    from goalwright.runs.plans import plan_file
    from goalwright.traces.drawing.forms import FORMS

    if form in ("yaml", "json") or not made.tasks:
        return plan_file.dump(made, form if form == "json" else "yaml", goal)
    return plan_graph.draw(made, width.of(sys.stdout)) if form == "graph" else FORMS[form](made)


def write(text: str, target: Path, mode: OutputMode, form: str, command: str = "goalwright run --plan") -> bool:
    """Write the plan and return whether that worked; if not, it is printed, because it was paid for."""
    try:
        whole_file.write(target, text)
    except OSError as error:
        output.say_warning(f"cannot write the plan to {target}: {error.strerror}; printing it instead")
        return False
    if not mode.quiet and form not in ("yaml", "json"):
        output.say(f"Graph written to {target}. To run or edit the plan, write it as YAML: -o plan.yaml")
    elif not mode.quiet:
        output.say(f"Plan written to {target}. Run it with: {command} {shlex.quote(str(target))}")
    return True
