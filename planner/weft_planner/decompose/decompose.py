"""Goal to plan: ask the model, validate its answer, ask again with all faults, and give up after three attempts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from weft_planner.decompose import required
from weft_planner.decompose.by_rule import RulePlan, SkillFor, Wanted, no_skill, plan_by_rule
from weft_planner.decompose.completion import completed
from weft_planner.errors import PlanError
from weft_planner.events import PlanMade, PlanRefused, PromptMade, Warned
from weft_planner.model import Message, Request
from weft_planner.plan.json_answer import NotJson
from weft_planner.plan.plan import Plan
from weft_planner.plan.reading import Reading, read_answer, told
from weft_planner.prompting.profile import FULL, Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft_planner.events.event import Recorder
    from weft_planner.model import Model, Reply
    from weft_planner.plan.plan import Task
    from weft_planner.plan.validate import Known
    from weft_planner.prompting.profile import PlanExample
    from weft_planner.prompting.prompts import Prompts

ATTEMPTS = 3
_ATTEMPTS_OF_SUB_GOALS = 2
Ready = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Brief:
    """What the decomposer is given: the goal, and the skills and tools for it; `names` are the selected skills.

    `asked` are those among them that the user names, `required` those that every plan must use, and `skill_for` finds
    the best skill for a part of the goal. The answer must have the form of `schema`. For a sub-goal, `task` is its id,
    and `results` are of tasks that it depends on. `earlier` says what an earlier run came to. The plan must have the
    tasks that are `fixed`: they have begun.
    """

    goal: str
    skills: str
    tools: str
    date: str
    known: Known
    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    profile: Profile = FULL
    asked: tuple[str, ...] = ()
    skill_for: SkillFor = no_skill
    schema: Mapping[str, Any] | None = None
    task: str | None = None
    results: Sequence[Mapping[str, str]] = ()
    earlier: str = ""
    fixed: tuple[Task, ...] = ()
    required: tuple[str, ...] = ()

    @property
    def sub_goals(self) -> bool:
        """Whether a task of the plan may be a goal itself."""
        return self.known.max_depth > 0

    @property
    def attempts(self) -> int:
        """How many answers a model may give."""
        return ATTEMPTS if self.task is None else _ATTEMPTS_OF_SUB_GOALS

    @property
    def wanted(self) -> Wanted:
        """What a plan by rule is made for."""
        notes = tuple(f"Note: {answer}" for answer in self.answers)
        best = self.names[0] if self.names else None
        return Wanted(self.goal, best, self.skill_for, tuple(dict.fromkeys((*self.asked, *self.required))), notes)

    @property
    def judged_by(self) -> Known:
        """What a plan may use; what it quotes from the goal, answers or earlier results refers to nothing."""
        told = (self.goal, *self.answers, self.earlier, *(text for row in self.results for text in row.values()))
        return replace(self.known, quoted=(*self.known.quoted, *filter(None, told)))

    def by_rule(self) -> RulePlan | None:
        """The plan that needs no model, if there is one."""
        return plan_by_rule(self.wanted, self.profile, self.known.max_tasks)

    @property
    def max_tasks(self) -> int:
        """How many tasks the plan may have."""
        return min(self.known.max_tasks, self.profile.most_tasks or self.known.max_tasks)

    @property
    def shown(self) -> tuple[str, ...]:
        """The selected skills that the model is shown."""
        return self.names[: self.profile.skills_shown]


def variables_of(brief: Brief) -> dict[str, Any]:
    """The variables of the decomposer's templates."""
    return {
        "goal": brief.goal,
        "skills": brief.skills,
        "tools": brief.tools,
        "names": brief.shown,
        "date": brief.date,
        "most_tasks": brief.max_tasks,
        "files": brief.files,
        "answers": brief.answers,
        "models": tuple(brief.known.models),
        "schema": json.dumps(brief.schema, ensure_ascii=False) if brief.schema is not None else "",
        "results": brief.results,
        "sub_goals": brief.sub_goals,
        "fixed": tuple(json.dumps(task.to_dict(), ensure_ascii=False) for task in brief.fixed),
    }


def messages(brief: Brief, prompts: Prompts) -> tuple[Message, ...]:
    """The messages of the first request; the system message never changes within a run, for the prompt cache."""
    agent, variables = brief.profile.agent("decomposer"), variables_of(brief)
    turns = [
        message
        for example in brief.profile.examples
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


class EarlyStart(Protocol):
    """Starts tasks of a plan while it is being written."""

    def hear(self, text: str) -> None:
        """Take the next piece of the plan; an empty one begins it again."""

    def could_begin(self, text: str) -> tuple[str, ...]:
        """The ids of the tasks of a whole answer that could have started early."""

    async def settle(self, plan: Plan) -> None:
        """Keep of what began what stands in the plan that was accepted, and stop the rest."""


async def decompose(
    brief: Brief,
    model: Model,
    prompts: Prompts,
    record: Recorder,
    ready: Ready | None = None,
    early: EarlyStart | None = None,
) -> Plan:
    """A valid plan for the goal, or nothing but a clarification; `ready` is awaited before a model is asked.

    With `early`, tasks start while the first answer is being written.
    The plan is recorded, except for a sub-goal's, which is when it joins that of the run. Whether an answer was
    accepted, and why not, is taken as it is on record.
    """
    ruled = await asyncio.to_thread(brief.by_rule)
    if ruled is not None:
        required.check(ruled.plan, brief.required, "the plan by rule")
        return ruled.plan if brief.task is not None else record(PlanMade(ruled.plan, 0, rule=ruled.rule)).plan
    if ready is not None:
        await ready()
    record(PromptMade("decomposer", brief.task, variables_of(brief)))
    conversation = messages(brief, prompts)
    schema = brief.profile.shape.schema(brief.goal, brief.shown, brief.max_tasks, sub_goals=brief.sub_goals)
    faults: list[str] = []
    fixed: tuple[str, ...] = ()
    for attempt in range(1, brief.attempts + 1):
        hear = early.hear if early is not None and attempt == 1 else None
        request = Request(
            conversation, schema=schema, role="decomposer", task=brief.task, on_text=hear, about=_about(brief)
        )
        reply = await model.complete(request)
        verdict = await _judged(read(reply, brief), attempt, brief)
        if early is not None and isinstance(verdict, PlanMade):
            await early.settle(verdict.plan)
        if brief.task is None or isinstance(verdict, PlanRefused):
            verdict = record(verdict)
        if isinstance(verdict, PlanMade):
            if verdict.repairs:
                record(Warned(f"the plan was repaired: {told(verdict.repairs)}"))
            return verdict.plan
        faults = list(verdict.faults)
        if early is not None and attempt == 1:
            fixed = early.could_begin(reply.text)
        again = {"faults": faults} | ({"fixed": fixed} if fixed else {})
        conversation += (
            Message("assistant", reply.text or "(an empty answer)"),
            Message("user", prompts.render(brief.profile.agent("decomposer"), "again", again)),
        )
    if faults and not set(faults).difference(map(required.fault, brief.required)):
        names = [name for name in brief.required if required.fault(name) in faults]
        raise required.refusal(names, f"the last of {brief.attempts} plans of {model.name}")
    raise PlanError(
        f"the model {model.name} gave no valid plan in {brief.attempts} attempts; "
        f"the last one's faults: {'; '.join(faults)}",
        faults=faults,
        hint="try a stronger model with --model, state the goal more plainly, or write a plan and use --plan",
    )


async def _judged(reading: Reading, attempt: int, brief: Brief) -> PlanMade | PlanRefused:
    """The plan that was read, with what it lost of the goal if such a model loses any; or why it is refused."""
    if reading.faults:
        return PlanRefused(attempt, reading.faults, task=brief.task)
    plan, repairs = Plan.from_dict(reading.document), reading.repairs
    if names := required.unused(plan, brief.required):
        return PlanRefused(attempt, tuple(map(required.fault, names)), task=brief.task)
    if brief.profile.whole_goal:
        plan, back = await asyncio.to_thread(completed, plan, brief.wanted, brief.known.max_tasks)
        repairs = (*repairs, *back)
    return PlanMade(plan, attempt, repairs)


def _about(brief: Brief) -> list[Any]:
    """What a plan is asked for, whatever the words of the prompt."""
    kept = [task.id for task in brief.fixed]
    return [brief.goal, brief.answers, [dict(result) for result in brief.results], brief.files, kept]


def read(reply: Reply, brief: Brief) -> Reading:
    """The plan in a reply, and all its faults."""
    if reply.cut_off:
        return Reading(
            {}, ("the answer was cut off at the model's output limit; give a shorter plan with fewer words",)
        )
    try:
        return read_answer(reply.text, brief.profile.shape, brief.judged_by)
    except NotJson as error:
        return Reading({}, (f"{error}; answer with one JSON object that has a 'tasks' list",))


def _as_example(variables: Mapping[str, Any], example: PlanExample) -> dict[str, Any]:
    return {**variables, "goal": example.goal, "names": example.names, "files": (), "answers": (), "results": ()}
