"""`goalwright run --dry-run`: the skills, the planning prompt or the given plan, and an estimate, without a call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.view import output
from goalwright_skills.text.money import dollars
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.plan.plan import Plan


def show_preview(goalwright: Goalwright, goal: Goal, mode: OutputMode, *, indent: int | None = 2) -> int:
    """Print what a run of the goal would begin with; returns the exit status. `indent` is that of its JSON."""
    from goalwright.workspace.planned_selection import planned_skills
    from goalwright_planner.reading.plan_answer import told

    preview = asyncio.run(goalwright.preview(goal))
    unused = goal.recipe.warnings if goal.recipe is not None else ()
    repaired = (f"the plan was repaired: {told(goal.repairs)}",) if goal.repairs else ()
    for warning in (*unused, *repaired, *preview.warnings) if not mode.quiet else ():
        output.say_warning(warning)
    if goal.plan is not None:
        selected = preview.to_dict()["selected"] if planned_skills(goal.plan) else []
        return _preview_plan(goal, goal.plan, selected, preview.calls, mode, indent)
    if mode.as_json:
        output.print_json({"goal": goal.text} | preview.to_dict(), indent=indent)
        return 0
    output.print_text("Skills selected:" if preview.selections else "No skill fits this goal.")
    for selection in preview.selections:
        output.print_text(f"  {selection.name}  {selection.score:.2f}  {selection.reason}")
    cost = _planning_cost(goalwright, preview.prompt_tokens)
    output.print_text(f"Estimate: about {preview.prompt_tokens:,} tokens{cost} to plan; calls: {preview.calls}.")
    if not mode.verbose:
        output.say("The planning prompt is shown with -v.")
        return 0
    for message in preview.messages:
        output.print_text(f"\n--- {message.role} ---\n{message.content}")
    return 0


def _planning_cost(goalwright: Goalwright, tokens: int) -> str:
    """What the planning prompt costs; empty if there is no price for the model."""
    from goalwright.models.litellm.prices import PriceList
    from goalwright.settings.default_model import is_local

    name = goalwright.settings.model_for("decomposer") or goalwright.models.default.model
    price = None if is_local(name) else PriceList(goalwright.settings.prices or {})(name).prompt
    return f" ({dollars(tokens * price)})" if price is not None else ""


def _preview_plan(
    goal: Goal, plan: Plan, skills: list[dict[str, Any]], calls: str, mode: OutputMode, indent: int | None
) -> int:
    """Show a given plan and the skills that it names: no planning prompt is sent."""
    from goalwright.runs.plans import plan_file

    if mode.as_json:
        estimate = {"prompt_tokens": 0, "calls": calls}
        output.print_json(
            {"goal": goal.text, "selected": skills, "prompt": [], "plan": plan.to_dict(), "estimate": estimate},
            indent=indent,
        )
        return 0
    output.print_text(plan_file.dump(plan, "yaml", goal.text))
    output.print_text(f"Estimate: {counted(len(plan.tasks), 'task')}; calls: {calls}.")
    return 0
