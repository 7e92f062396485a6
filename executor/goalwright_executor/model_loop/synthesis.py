"""Writes the answer: one model call over the final tasks' results, or the results themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright_executor.model_loop.model_loop import GO_ON, ModelLoop, Toolbox, marked
from goalwright_executor.results.inputs import UpstreamResult, fill, nothing_below, shorten, texts_of
from goalwright_executor.results.outcome import STATUS, Done, Outcome, Unneeded, handled
from goalwright_executor.results.task_results import MissingField, TaskResults
from goalwright_planner.errors import ModelError
from goalwright_planner.events import PromptMade, Warned
from goalwright_planner.model import Message, Request
from goalwright_planner.plan.fan_out import heading
from goalwright_planner.plan.references import references
from goalwright_planner.plan.task_id import in_order, root_of, round_of, with_parents
from goalwright_planner.small_models.coverage import content_words, missing
from goalwright_skills.text.formatting import counted, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from goalwright_executor.model_loop.form import Form
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.model import Model, OnText
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.prompts import Prompts

INPUT_BUDGET = 120_000
_MISSING = "\n\n---\n**Missing from this answer:**\n"
# A result counts as dropped if the answer lacks more than this share of its words.
_DROPPED = 0.6
_HEADED = re.compile(r"#{1,6} \S")
NOTHING_NEEDED = "Nothing had to be done: the conditions of the tasks do not hold."


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Writes a plan's answer from its tasks' outcomes.

    With `keeps_all`, results that the model drops are appended, and so are those of `wanted` tasks. A `form` replaces
    the text. The answer may be the result of a `task`, a sub-goal.
    """

    goal: str
    plan: Plan
    prompts: Prompts
    artifacts: Artifacts
    memo: Memo
    on_text: OnText | None = None
    agent: str = "synthesis"
    continuations: int = 3
    keeps_all: bool = False
    wanted: frozenset[str] = frozenset()
    form: Form | None = None
    task: str | None = None
    below: Callable[[str], str] = nothing_below  # text to show below a task's result
    earlier: Mapping[str, Outcome] = field(default_factory=dict)  # results of earlier turns of a conversation

    async def answer(self, outcomes: Mapping[str, Outcome], model: Model) -> str:
        """Return the answer, with missing results listed below it."""
        lost = self.missing(outcomes)
        if not self.plan.needs_synthesis:
            return self.without_model(outcomes)
        text = await self._ask(model, self._request(outcomes, lost))
        return with_missing(self._with_all(text, outcomes) if self.keeps_all else text, lost)

    async def data(self, outcomes: Mapping[str, Outcome], model: Callable[[], Model]) -> Any:
        """Return the answer as a value of the form; raises UnfitAnswer if no answer conforms.

        A single result that conforms already is the answer.
        """
        assert self.form is not None  # noqa: S101 - the caller checked it
        results = self._results(outcomes)
        if self.plan.synthesis is None and len(results) == 1:
            value, faults = self.form.read(results[0].text)
            if not faults:
                return value
        request = self._request(outcomes, self.missing(outcomes))
        *before, user = request.messages
        loop = ModelLoop(
            model(),
            Toolbox(self.memo),
            self.task,
            (*before, msgspec.structs.replace(user, content=f"{user.content}\n\n{self.form.shown}")),
            self.continuations,
            role="synthesis",
            schema=self.form.enforced,
            about=request.about,
        )
        return await self.form.answer(loop)

    def _with_all(self, text: str, outcomes: Mapping[str, Outcome]) -> str:
        """Append each result that the text mostly lacks: small models drop some."""
        dropped = [
            result
            for result in self._shown(outcomes)
            if len(missing(result.text, [text])) > _DROPPED * len(content_words(result.text))
        ]
        return "\n\n".join((text, *map(_section, dropped)))

    async def _ask(self, model: Model, request: Request) -> str:
        """Return the model's text; truncated answers are continued."""
        parts: list[str] = []
        while True:
            reply = await model.complete(request)
            parts.append(reply.text)
            if not (reply.cut_off and reply.text.strip() and len(parts) <= self.continuations):
                break
            request = replace(
                request, messages=(*request.messages, Message("assistant", reply.text), Message("user", GO_ON))
            )
        text, name = "".join(parts).strip(), reply.model or model.name
        if not text:
            raise ModelError(f"{name} gave no answer (finish reason: {reply.finish})")
        return marked(text, "the answer", name, self.memo) if reply.cut_off else text

    def without_model(self, outcomes: Mapping[str, Outcome]) -> str:
        """Return the results themselves, with missing results listed below."""
        results = self._shown(outcomes)
        texts = [result.text for result in results] if len(results) == 1 else map(_section, results)
        return with_missing("\n\n".join(texts), self.missing(outcomes))

    def missing(self, outcomes: Mapping[str, Outcome]) -> list[str]:
        """Return a line with the reason for each needed task without a result, unless its failure was handled."""
        instead = {*self.plan.replaced, *self.plan.superseded, *self.handled(outcomes)}
        return [
            f"{_label(task)}: {_reason(outcomes.get(task.id))}"
            for task in self._tasks
            if instead.isdisjoint(with_parents(task.id))
            and round_of(task.id) is None  # the repeated task itself is listed
            and not isinstance(outcomes.get(task.id), Done | Unneeded)
            # Parts that were not reached are left out: the task itself is listed if it failed.
            and (task.id in outcomes or root_of(task.id) not in outcomes)
        ]

    def handled(self, outcomes: Mapping[str, Outcome]) -> dict[str, str]:
        """Map tasks whose failure was handled to the task that handled it."""
        return handled(self.plan.tasks, lambda name: STATUS.get(type(outcomes.get(name, Unneeded()))))

    def _request(self, outcomes: Mapping[str, Outcome], missing: list[str]) -> Request:
        results, told = self._results(outcomes), self._told(outcomes)
        texts = shorten({result.id: result.text for result in results}, INPUT_BUDGET, self.artifacts)
        variables = {
            "goal": self.goal,
            "results": [
                UpstreamResult(result.id, result.title, texts[result.id] + self.below(result.id)) for result in results
            ],
            "missing": missing,
            "synthesis": told,
        }
        self.memo.record(PromptMade("synthesis", self.task, variables))
        messages = self.prompts.messages(self.agent, variables)
        lost = [task.id for task in self._tasks if not isinstance(outcomes.get(task.id), Done)]
        about = [told, [[result.id, result.text] for result in results], lost]
        return Request(messages, role="synthesis", task=self.task, on_text=self.on_text, about=about)

    def _told(self, outcomes: Mapping[str, Outcome]) -> str | None:
        """Return the plan's wording for the answer with references filled in, or with the error of unreadable ones."""
        if self.plan.synthesis is None or "<<" not in self.plan.synthesis:
            return self.plan.synthesis
        results, texts = TaskResults({**outcomes, **self.earlier}), dict[str, str]()
        for reference in dict.fromkeys(references(self.plan.synthesis)):
            try:
                texts |= texts_of([reference], results)
            except MissingField as error:
                texts[reference.key] = f"[{error}]"
                self.memo.record(Warned(f"the synthesis has a reference without a value: {error}"))
        return fill(self.plan.synthesis, shorten(texts, INPUT_BUDGET, self.artifacts))

    def _shown(self, outcomes: Mapping[str, Outcome]) -> list[UpstreamResult]:
        """Return the results that the answer must contain."""
        return self._of({result.id for result in self._results(outcomes)} | self.wanted, outcomes)

    def _results(self, outcomes: Mapping[str, Outcome]) -> list[UpstreamResult]:
        """Return the final tasks' results; for a final task without one, the last results upstream of it."""
        import networkx as nx

        done = {task_id for task_id, outcome in outcomes.items() if isinstance(outcome, Done)}
        wanted = {task.id for task in self.plan.finals if task.id in done}
        lost = [task.id for task in self.plan.finals if task.id not in done]
        for final in lost:
            upstream = nx.ancestors(self.plan.graph, final) & done
            wanted |= {name for name in upstream if not set(self.plan.graph.successors(name)) & done}
        return self._of(wanted - self.plan.superseded, outcomes)

    def _of(self, tasks: Collection[str], outcomes: Mapping[str, Outcome]) -> list[UpstreamResult]:
        return [
            UpstreamResult(task.id, task.title, outcome.output)
            for task in self._tasks
            if task.id in tasks and isinstance(outcome := outcomes.get(task.id), Done)
        ]

    @property
    def _tasks(self) -> list[Task]:
        """All tasks in the order of the plan, not of joining it: a replay makes all changes of a plan first."""
        return [self.plan.task(name) for name in in_order(task.id for task in self.plan.tasks)]


def _section(result: UpstreamResult) -> str:
    """Return a result below its title, unless it has a heading of its own."""
    return result.text if _HEADED.match(result.text) else f"## {result.title or result.id}\n\n{result.text}"


def with_not_read(text: str, files: Sequence[str]) -> str:
    """Append the files that were not read in full."""
    if not files:
        return text
    lines = "\n".join(f"- {line}" for line in files)
    gap = "" if _MISSING in text else "---\n"
    return f"{text}\n\n{gap}**Not read:**\n{lines}".strip()


def with_missing(text: str, missing: list[str]) -> str:
    """Append what could not be done."""
    if not missing:
        return text
    lines = "\n".join(f"- {part}" for part in missing)
    return f"{text}{_MISSING}{lines}".strip()


def missing_error(missing: list[str], tasks: int) -> str:
    """Return how many of a number of tasks have no result, and why."""
    has = plural(len(missing), "has", "have")
    return f"{len(missing)} of {counted(tasks, 'task')} {has} no result: {'; '.join(missing)}"


def _label(task: Task) -> str:
    name = task.id if task.item is None else f"{task.id}, {heading(task.item.value)}"
    return f"{task.title} ({name})" if task.title not in ("", task.id) else name


def _reason(outcome: Outcome | None) -> str:
    return "it did not begin" if outcome is None or isinstance(outcome, Done | Unneeded) else outcome.error
