"""The planner's prompts: the variables of its templates, and the messages of its requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.model import Reply
    from goalwright_planner.prompting.profile import PlanExample
    from goalwright_planner.prompting.prompts import Prompts

CUT_OFF = "the answer was cut off at the model's output limit; give a shorter {} with fewer words"


def variables_of(brief: Brief) -> dict[str, Any]:
    """The variables of the decomposer's templates."""
    candidates = brief.candidates
    images = tuple({"path": image.path, "about": image.facts} for image in brief.images)
    optional = {"images": images, "tool_lines": candidates.tool_lines, "material": candidates.material}
    return {key: value for key, value in optional.items() if value} | {
        "goal": brief.goal,
        "skills": brief.skills,
        "tools": brief.tools,
        "names": candidates.skills,
        "lines": candidates.lines,
        "date": brief.date,
        "most_tasks": brief.max_tasks,
        "files": brief.files,
        "answers": brief.answers,
        "models": tuple(brief.known.models),
        "schema": json.dumps(brief.schema, ensure_ascii=False) if brief.schema is not None else "",
        "results": brief.results,
        "sub_goals": brief.sub_goals,
        "certain": brief.must_use,
        "direct": brief.direct,
        "repeats": brief.repeats,
        "item_conditions": brief.item_conditions,
        "fixed": tuple(json.dumps(task.to_dict(), ensure_ascii=False) for task in brief.fixed),
    }


def messages(brief: Brief, prompts: Prompts) -> tuple[Message, ...]:
    """The messages of the first request; the system message stays the same within a run, for the provider's cache."""
    agent, variables = brief.profile.agent("decomposer"), variables_of(brief)
    turns = [
        message
        for example in brief.candidates.examples
        for message in (
            Message("user", prompts.render(agent, "user", _example_variables(variables, example))),
            Message("assistant", example.plan),
        )
    ]
    system = Message("system", prompts.render(agent, "system", variables))
    return (system, *turns, Message("user", below(brief.earlier, prompts.render(agent, "user", variables))))


def below(earlier: str, text: str) -> str:
    """A prompt, below the summary of an earlier run if there is one."""
    return f"{earlier}\n\n{text}" if earlier else text


def again(reply: Reply, correction: str) -> tuple[Message, Message]:
    """The turns that show a model its refused answer and ask for a better one."""
    return Message("assistant", reply.text or "(an empty answer)"), Message("user", correction)


def _example_variables(variables: Mapping[str, Any], example: PlanExample) -> dict[str, Any]:
    empty = {"files": (), "answers": (), "results": (), "certain": (), "images": ()}
    shown = {"names": example.names, "lines": example.lines, "tool_lines": example.tool_lines}
    return {**variables, **empty, **shown, "goal": example.goal}
