"""Decides conditions, by comparing values or asking a model: whether a task is needed, or its rounds end."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from goalwright_executor.results.inputs import shorten
from goalwright_executor.results.outcome import STATUS, Done, Outcome, Unneeded, output_of
from goalwright_executor.results.task_results import TaskResults
from goalwright_planner.errors import ModelError
from goalwright_planner.events import ConditionChecked, PromptMade
from goalwright_planner.json_answer import NotJson, extract
from goalwright_planner.model import Message, Request
from goalwright_planner.plan import conditions, fan_out
from goalwright_planner.plan.conditions import CompareTest, Condition, Constant, EmptyTest, Junction, Negation, ValueOf
from goalwright_planner.plan.references import MISSING, as_text, value_at
from goalwright_planner.plan.task_id import number_of, written_id
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import shorten as shorten_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.scheduling.expand import CurrentPlan
    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply
    from goalwright_planner.plan.task import Repeat, Task
    from goalwright_planner.prompting.models import Models
    from goalwright_planner.prompting.prompts import Prompts

SCHEMA = {
    "type": "object",
    "properties": {"holds": {"type": "boolean"}, "why": {"type": "string"}},
    "required": ["holds", "why"],
    "additionalProperties": False,
}
_NUMBER = re.compile(r"[+-]?[0-9]{1,60}(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,3})?")
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ConditionVerdict:
    """Whether a condition holds, and why: the values, or the model's reason, which is also in `said`."""

    holds: bool
    why: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class ConditionCheck:
    """Checks the conditions of a plan's tasks; `earlier` finds referenced results of earlier turns."""

    current: CurrentPlan
    models: Models
    prompts: Prompts
    record: Record
    artifacts: Artifacts
    input_budget: int
    earlier: Callable[[object], Mapping[str, Outcome]] | None = None

    async def check(self, task: Task, outcomes: Mapping[str, Outcome]) -> bool:
        """Return whether a task's condition holds, and record it, unless there is none."""
        if task.when is None:
            return True
        verdict = await self._decide(task, task.when, "when", outcomes)
        self.record(ConditionChecked(task.id, task.when, verdict.holds, verdict.why))
        return verdict.holds

    async def ends(
        self, task: Task, repeat: Repeat, number: int, output: str, outcomes: Mapping[str, Outcome]
    ) -> ConditionVerdict:
        """Return whether the output of a round ends the rounds of a task, and record it."""
        results = {**outcomes, written_id(task.id): Done(output)}
        verdict = await self._decide(task, repeat.until, "repeat.until", results)
        self.record(ConditionChecked(task.id, repeat.until, verdict.holds, verdict.why, number))
        return verdict

    async def _decide(
        self, task: Task, condition: str | Mapping[str, Any], key: str, outcomes: Mapping[str, Outcome]
    ) -> ConditionVerdict:
        if self.earlier is not None:
            outcomes = {**outcomes, **self.earlier(condition)}
        values = {
            value: _of_item(task, value) if _is_of_item(task, value) else self._value(value, outcomes)
            for value in conditions.values_in(condition)
        }
        if faults := list(conditions.problems(condition, key)):  # plans are validated, but records may be untrusted
            raise GoalwrightError("; ".join(faults))
        if isinstance(condition, str):
            holds = evaluate(conditions.parse(condition), values.__getitem__)
            return ConditionVerdict(
                holds, "; ".join(f"{value} is {_shown(actual)}" for value, actual in values.items())
            )
        holds, why = await self._ask(task, str(condition["ask"]), values)
        return ConditionVerdict(holds, why, said=why)

    def _value(self, value: ValueOf, outcomes: Mapping[str, Outcome]) -> Any:
        """Return the value of a reference: null for a failed task without output, empty if it was not needed."""
        outcome = outcomes.get(value.of)
        if outcome is None:
            return None
        if value.part == "status":
            return STATUS[type(outcome)]
        if value.part == "count":
            return self._count(value, outcome, outcomes)
        if (output := output_of(outcome)) is None:
            return "" if isinstance(outcome, Unneeded) and not value.path else None
        field = value_at(output, value.path)
        return None if field is MISSING else field

    def _count(self, value: ValueOf, outcome: Outcome, outcomes: Mapping[str, Outcome]) -> int | None:
        """Return how many items a task with `for_each` over this one would have; null if there is no list."""
        if output_of(outcome) is None:
            return 0 if isinstance(outcome, Unneeded) else None
        try:
            return len(self.current.items(value.of, "", TaskResults(outcomes)))
        except fan_out.NotAList:
            return None

    async def _ask(self, task: Task, question: str, values: Mapping[ValueOf, Any]) -> tuple[bool, str]:
        named = {_name(value): "" if actual is None else as_text(actual) for value, actual in values.items()}
        texts = shorten(named, self.input_budget, self.artifacts)
        filled = conditions.filled(question, lambda value: texts[_name(value)])
        variables = {"condition": filled}
        self.record(PromptMade("condition", task.id, variables))
        agent = self.models.profile("condition", task.id).agent("condition")
        messages = (
            Message("system", self.prompts.render(agent, "system", {})),
            Message("user", self.prompts.render(agent, "user", variables)),
        )
        model = self.models.for_role("condition")
        prompt = tuple(message for message in messages if message.content)
        reply = await model.complete(Request(prompt, schema=SCHEMA, role="condition", task=task.id, about=filled))
        return _verdict(reply, model.name)


def _is_of_item(task: Task, value: ValueOf) -> bool:
    """Whether a value is a field of the task's item, such as `<<item.output>>`."""
    return value.id == "item" and (task.item is not None or not value.part)


def _of_item(task: Task, value: ValueOf) -> Any:
    """Return the field of the item at the path of a value; null if there is none."""
    path = str(value).removeprefix("<<item").removesuffix(">>")
    if task.item is None:
        return None
    field = fan_out.item_values([str(value)], task.item.value, number_of(task.id) or 0)[path]
    return None if field is MISSING else field


def _name(value: ValueOf) -> str:
    """Return the name of a text that is too long for a prompt, the same as in other prompts."""
    return value.of if value.part == "output" and not value.path else str(value).strip("<>")


def _verdict(reply: Reply, model: str) -> tuple[bool, str]:
    try:
        answer = extract(reply.text, "holds")
    except NotJson as error:
        answer, reason = None, str(error)
    else:
        reason = "the answer has no 'holds' that is true or false"
    if not isinstance(answer, dict) or not isinstance(answer.get("holds"), bool):
        raise ModelError(f"{reply.model or model} did not say whether the condition holds: {reason}")
    return answer["holds"], str(answer.get("why") or "")


def evaluate(condition: Condition, value_of: Callable[[ValueOf], Any]) -> bool:
    """Return whether a condition holds for these values."""
    match condition:
        case Junction(word="and", parts=parts):
            return all(evaluate(part, value_of) for part in parts)
        case Junction(parts=parts):
            return any(evaluate(part, value_of) for part in parts)
        case Negation(of=inner):
            return not evaluate(inner, value_of)
        case EmptyTest(value=operand):
            return _is_empty(_resolved(operand, value_of))
        case CompareTest(left=left, sign=sign, right=right):
            return _compare(_resolved(left, value_of), sign, _resolved(right, value_of))


def _resolved(operand: ValueOf | Constant, value_of: Callable[[ValueOf], Any]) -> Any:
    return operand.value if isinstance(operand, Constant) else value_of(operand)


def _compare(left: Any, sign: str, right: Any) -> bool:
    match sign:
        case "==":
            return _equal(left, right)
        case "!=":
            return not _equal(left, right)
        case "contains":
            return _contains(left, right)
    if left is None or right is None:
        return False
    a, b = _comparable(left, right)
    return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign])


def _equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    a, b = _comparable(left, right)
    return bool(a == b)


def _comparable(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both values as numbers if both are numbers, else as texts."""
    a, b = _number(left), _number(right)
    return (_text(left), _text(right)) if a is None or b is None else (a, b)


def _contains(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return False
    if isinstance(left, list | dict):
        return any(_equal(item, right) for item in left)
    return _text(right) in _text(left)


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return "".join(value.split()) in ("", "[]", "{}")
    return value is None or (isinstance(value, list | dict) and not value)


def _number(value: Any) -> Decimal | None:
    """Return the value as a number, if it is one or a text that contains only one."""
    text = value.strip() if isinstance(value, str) else "" if isinstance(value, bool) else str(value)
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def _text(value: Any) -> str:
    """Return the value as text to compare, trimmed and without case."""
    match value:
        case str():
            return value.strip().casefold()
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True).casefold()


def _shown(value: Any) -> str:
    return shorten_line(json.dumps(value, ensure_ascii=False), _SHOWN)
