"""The preview of a run: selected skills, prompt and estimate, without a call to a model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.runs.steps.given_files import give_images
from goalwright.runs.steps.planning import Planning
from goalwright.runs.steps.selecting import Selecting, language_note
from goalwright_planner.decompose.prompt import messages
from goalwright_planner.model import estimated_tokens

if TYPE_CHECKING:
    from goalwright.runs.run_context import RunContext
    from goalwright_planner.model import Message
    from goalwright_planner.plan.plan import Plan
    from goalwright_skills.selection.detector import Selection


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a run; `prompt_tokens` is a rough estimate, `rule` a rule that makes the plan, if one does."""

    selections: tuple[Selection, ...]
    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: str
    warnings: tuple[str, ...] = ()
    rule: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as JSON."""
        return {
            "selected": [selection.to_dict() for selection in self.selections],
            "prompt": [{"role": message.role, "content": message.content} for message in self.messages],
            "estimate": {"prompt_tokens": self.prompt_tokens, "calls": self.calls},
        }


async def preview(context: RunContext) -> Preview:
    """Return what a run would ask its model."""
    goal, selecting = context.goal, Selecting(context)
    catalogue = await selecting.catalogue(ask=False)
    await give_images(context)
    planning = Planning(context, catalogue)
    prompt: tuple[Message, ...] = ()
    rule = ""
    if goal.plan is None:  # a plan of tools alone needs no model and no brief
        brief = planning.brief(goal.answers)
        ruled = await asyncio.to_thread(brief.by_rule)
        rule, prompt = (ruled.rule, ()) if ruled is not None else ("", messages(brief, context.prompts))
    foreign = selecting.translated(catalogue)
    keywords = foreign.skills if foreign is not None else ""
    calls = expected_calls(goal.plan, rule, asks=selecting.asks, form=goal.data is not None, keywords=keywords)
    unmet = planning.unmet_needs(goal.plan) if goal.plan is not None else ()
    asked = language_note(catalogue) if keywords else ""  # a run asks its model instead
    warnings = (*(warning for warning in catalogue.warnings if warning != asked), *unmet)
    return Preview(catalogue.selections, prompt, estimated_tokens(prompt), calls, warnings, rule)


def expected_calls(plan: Plan | None, rule: str, *, asks: bool, form: bool = False, keywords: str = "") -> str:
    """Say how many calls a goal takes, with a given plan, a plan made by a rule, or a plan made by a model.

    An answer with a schema (`form`) takes one call; `keywords` is the language into which a goal is translated first.
    """
    if plan is not None:
        calls_of = ((task.action_type != "tool") + task.asks + (task.check is not None) for task in plan.tasks)
        asking = sum(calls_of) + (plan.needs_synthesis or form)
        lists = " and lists have items" if any(task.for_each is not None for task in plan.tasks) else ""
        goals = " and goals have tasks" if any(task.action_type == "goal" for task in plan.tasks) else ""
        rounds = " and some may be done again" if any(task.repeat is not None for task in plan.tasks) else ""
        calls = f"{asking} or more, as tasks call tools{lists}{goals}{rounds}"
    else:
        first = f"none to plan ({rule})" if rule else "1 to plan"
        calls = f"{first}, 1 or more for each task, 1 to write the answer"
    selecting = [f"1 for {keywords} keywords"] * bool(keywords) + ["1 to select skills"] * asks
    return f"{', '.join(selecting)} (those shown here are ranked without a model), {calls}" if selecting else calls
