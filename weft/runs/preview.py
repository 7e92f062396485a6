"""What a run would start with, without a call to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from weft_planner.model import Message
    from weft_planner.plan.plan import Plan
    from weft_skills.selection.detector import Selection


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would start with; `prompt_tokens` is a rough estimate."""

    selections: tuple[Selection, ...]
    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The preview as `run --dry-run --json` prints it."""
        return {
            "selected": [msgspec.structs.asdict(one) for one in self.selections],
            "prompt": [{"role": message.role, "content": message.content} for message in self.messages],
            "estimate": {"prompt_tokens": self.prompt_tokens, "calls": self.calls},
        }


def expected_calls(plan: Plan | None, rule: str, *, asks: bool, form: bool = False, keywords: str = "") -> str:
    """How many calls a goal takes: with a given plan, one made by a rule, or one that a model makes.

    An answer of a `form` takes one too; `keywords` is the language into which a goal is translated first.
    """
    if plan is not None:
        calls_of = ((task.action_type != "tool") + task.asks + (task.check is not None) for task in plan.tasks)
        asking = sum(calls_of) + (plan.needs_synthesis or form)
        lists = " and lists have items" if any(task.for_each is not None for task in plan.tasks) else ""
        goals = " and goals have tasks" if any(task.action_type == "goal" for task in plan.tasks) else ""
        calls = f"{asking} or more, as tasks call tools{lists}{goals}"
    else:
        first = f"none to plan ({rule})" if rule else "1 to plan"
        calls = f"{first}, 1 or more for each task, 1 to write the answer"
    selecting = [f"1 for {keywords} keywords"] * bool(keywords) + ["1 to select skills"] * asks
    return f"{', '.join(selecting)} (those shown here are ranked without a model), {calls}" if selecting else calls
