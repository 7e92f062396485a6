"""Goal to plan: ask, read, validate, ask again with all faults, and give up after three."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from planner.errors import PlanError
from planner.events import PlanMade, PlanRefused, PromptMade
from planner.extract import NotJson, extract
from planner.model import Message, Request
from planner.plan import Plan
from planner.schema import plan_schema
from planner.validate import Known, problems

if TYPE_CHECKING:
    from planner.events import Record
    from planner.model import Model, Reply
    from planner.prompt import Prompts

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Brief:
    """What the decomposer is told: the goal, and what there is to reach it with."""

    goal: str
    skills: str
    tools: str
    date: str
    known: Known
    files: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=plan_schema)


def variables_of(brief: Brief) -> dict[str, Any]:
    """What the decomposer's templates are given."""
    return {
        "goal": brief.goal,
        "skills": brief.skills,
        "tools": brief.tools,
        "date": brief.date,
        "most_tasks": brief.known.most_tasks,
        "files": brief.files,
        "answers": brief.answers,
    }


def messages(brief: Brief, prompts: Prompts) -> tuple[Message, ...]:
    """The first request's messages; the system message stays the same to the byte within a run."""
    variables = variables_of(brief)
    return (
        Message("system", prompts.render("decomposer", "system", variables)),
        Message("user", prompts.render("decomposer", "user", variables)),
    )


async def decompose(brief: Brief, model: Model, prompts: Prompts, record: Record) -> Plan:
    """A valid plan for the goal, or a plan that holds only a clarification."""
    record(PromptMade("decomposer", None, variables_of(brief)))
    conversation = messages(brief, prompts)
    faults: list[str] = []
    for attempt in range(1, ATTEMPTS + 1):
        reply = await model.complete(Request(conversation, schema=brief.schema, role="decomposer"))
        document, faults = read(reply, brief.known)
        if not faults:
            plan = Plan.from_dict(document)
            record(PlanMade(plan, attempt))
            return plan
        record(PlanRefused(attempt, tuple(faults)))
        conversation += (
            Message("assistant", reply.text or "(an empty answer)"),
            Message("user", prompts.render("decomposer", "again", {"faults": faults})),
        )
    raise PlanError(
        f"the model {model.name} gave no valid plan in {ATTEMPTS} attempts; the last one's faults: {'; '.join(faults)}",
        faults=faults,
        hint="try a stronger model with --model, say the goal more plainly, or write the plan yourself and use --plan",
    )


def read(reply: Reply, known: Known) -> tuple[Mapping[str, Any], list[str]]:
    """The plan document in a reply, and everything that is wrong with it."""
    if reply.cut_off:
        return {}, ["the answer was cut off at the model's output limit; give a shorter plan with fewer words"]
    try:
        document = extract(reply.text, "tasks", "clarification")
    except NotJson as error:
        return {}, [f"{error}; answer with one JSON object that has a 'tasks' list"]
    document = unwrapped(document)
    return document, problems(document, known)


def unwrapped(document: Any) -> Any:
    """A bare list of tasks, or a plan inside one outer key, as the plan it stands for."""
    if isinstance(document, list) and document and all(isinstance(row, Mapping) for row in document):
        return {"tasks": document}
    if isinstance(document, Mapping) and len(document) == 1 and "tasks" not in document:
        (inner,) = document.values()
        if isinstance(inner, Mapping) and "tasks" in inner:
            return inner
    return document
