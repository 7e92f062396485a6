"""Goal to plan: ask the model, validate its answer, ask again with all faults, and give up after three attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright_planner.decompose import required
from goalwright_planner.decompose.brief import variables_of
from goalwright_planner.decompose.judging import PlanJudge
from goalwright_planner.decompose.streaming import AnswerStream
from goalwright_planner.errors import PlanError
from goalwright_planner.events import PlanMade, PlanRefused, PromptMade, Warned
from goalwright_planner.model import Message, Request
from goalwright_planner.reading.plan_answer import summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.decompose.brief import Brief
    from goalwright_planner.decompose.judging import EarlyStart
    from goalwright_planner.events.event import Recorder
    from goalwright_planner.model import Model, OnText
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.prompting.profile import PlanExample
    from goalwright_planner.prompting.prompts import Prompts

Ready = Callable[[], Awaitable[None]]


def messages(brief: Brief, prompts: Prompts) -> tuple[Message, ...]:
    """The messages of the first request; the system message never changes within a run, for the prompt cache."""
    agent, variables = brief.profile.agent("decomposer"), variables_of(brief)
    turns = [
        message
        for example in brief.examples
        for message in (
            Message("user", prompts.render(agent, "user", _as_example(variables, example))),
            Message("assistant", example.plan),
        )
    ]
    system = Message("system", prompts.render(agent, "system", variables))
    return (system, *turns, Message("user", below(brief.earlier, prompts.render(agent, "user", variables))))


def below(earlier: str, text: str) -> str:
    """A prompt, below what an earlier run came to, if one is followed up."""
    return f"{earlier}\n\n{text}" if earlier else text


async def decompose(
    brief: Brief,
    model: Model,
    prompts: Prompts,
    record: Recorder,
    ready: Ready | None = None,
    early: EarlyStart | None = None,
    on_answer: OnText | None = None,
) -> Plan:
    """A valid plan for the goal, or nothing but a clarification; `ready` is awaited before a model is asked.

    With `early`, tasks start while the first answer is being written; `on_answer` takes an answer that stands in the
    place of a plan, as it is written.
    The plan is recorded, except for a sub-goal's, which is when it joins that of the run. Whether an answer was
    accepted, and why not, is taken as it is on record.
    """
    ruled = await asyncio.to_thread(brief.by_rule)
    if ruled is not None:
        return ruled.plan if brief.task is not None else record(PlanMade(ruled.plan, 0, rule=ruled.rule)).plan
    if ready is not None:
        await ready()
    record(PromptMade("decomposer", brief.task, variables_of(brief)))
    conversation = messages(brief, prompts)
    request = Request(
        conversation,
        schema=brief.profile.shape.schema(brief.asked_plan),
        role="decomposer",
        task=brief.task,
        about=_about(brief),
        fixed=len(conversation) - 1,  # all but the goal
    )
    judge = PlanJudge(brief, early)
    faults: list[str] = []
    fixed: tuple[str, ...] = ()
    for attempt in range(1, brief.attempts + 1):
        streamed = early.hear if early is not None and attempt == 1 else None
        hear = _heard_by(streamed, on_answer if brief.direct else None)
        reply = await model.complete(replace(request, messages=conversation, on_text=hear))
        verdict = await judge.verdict(reply, attempt)
        if early is not None and isinstance(verdict, PlanMade):
            await early.settle(verdict.plan)
        if brief.task is None or isinstance(verdict, PlanRefused):
            verdict = record(verdict)
        if isinstance(verdict, PlanMade):
            if verdict.repairs:
                record(Warned(f"the plan was repaired: {summary(verdict.repairs)}"))
            return verdict.plan
        faults = list(verdict.faults)
        if early is not None and attempt == 1:
            fixed = early.could_begin(reply.text)
        again = {"faults": faults} | ({"fixed": fixed} if fixed else {})
        conversation += (
            Message("assistant", reply.text or "(an empty answer)"),
            Message("user", prompts.render(brief.profile.agent("decomposer"), "again", again)),
        )
    raise _given_up(brief, model, faults)


def _given_up(brief: Brief, model: Model, faults: list[str]) -> PlanError:
    """What is wrong if no answer was a valid plan; these are the faults of the last one."""
    lacking = required.told(faults, brief.required)
    if faults and not set(faults).difference(lacking.values()):
        return required.refusal(lacking, f"the last of {brief.attempts} plans of {model.name}")
    return PlanError(
        f"the model {model.name} gave no valid plan in {brief.attempts} attempts; "
        f"the last one's faults: {'; '.join(faults)}",
        faults=faults,
        hint="try a stronger model with --model, state the goal more plainly, or write a plan and use --plan",
    )


def _heard_by(plan: OnText | None, answer: OnText | None) -> OnText | None:
    """What hears a reply as it is written, for its tasks and for an answer in their place."""
    if answer is None:
        return plan
    stream = AnswerStream(answer)

    def hear(text: str) -> None:
        stream.hear(text)
        if plan is not None:
            plan(text)

    return hear


def _about(brief: Brief) -> list[Any]:
    """What a plan is asked for, whatever the words of the prompt."""
    kept = [task.id for task in brief.fixed]
    return [brief.goal, brief.answers, [dict(result) for result in brief.results], brief.files, kept]


def _as_example(variables: Mapping[str, Any], example: PlanExample) -> dict[str, Any]:
    given = {"files": (), "answers": (), "results": (), "certain": (), "images": ()}
    shown = {"names": example.names, "lines": example.lines, "tool_lines": example.tool_lines}
    return {**variables, **given, **shown, "goal": example.goal}
