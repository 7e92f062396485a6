"""Results with a form: an answer is read as JSON by its schema; one that does not fit is asked for again, twice."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.events import AnswerChecked
from goalwright_planner.json_answer import NotJson, without_thinking
from goalwright_planner.plan.output_schema import canonical, value_faults
from goalwright_planner.reading.loose_json import unique_keys
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.model_loop.data_schema import DataSchema
    from goalwright_executor.model_loop.model_loop import ModelLoop
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.prompting.prompts import Prompts

ANSWERS = 3
_MOST_FAULTS = 100
# Providers enforce objects alone: a value of another kind is asked for inside of one.
_INSIDE = "result"
_FENCED = re.compile(r"\A(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\Z", re.DOTALL)


class UnfitAnswer(GoalwrightError):
    """No answer of the model has the form that the task asks for."""

    code = "UNFIT_ANSWER"


@dataclass(frozen=True, slots=True)
class Form:
    """A form that an answer must have; the agent `form` of `prompts` says so to the model."""

    schema: Mapping[str, Any]
    prompts: Prompts

    @property
    def shown(self) -> str:
        """What a prompt says about the form."""
        return self.prompts.render("form", "user", {"schema": _pretty(self.schema)})

    @property
    def enforced(self) -> Mapping[str, Any]:
        """The schema that a provider is asked to enforce."""
        if self.schema.get("type") == "object":
            return self.schema
        inner = {key: value for key, value in self.schema.items() if key != "$defs"}
        defined = {"$defs": self.schema["$defs"]} if "$defs" in self.schema else {}
        return {"type": "object", "properties": {_INSIDE: inner}, "required": [_INSIDE]} | defined

    async def answer(self, loop: ModelLoop) -> Any:
        """The value in the model's answer; raises UnfitAnswer if none of its answers fits."""
        text = await loop.answer()
        for left in reversed(range(ANSWERS)):
            value, faults = self.read(text, cut=loop.cut)
            if not faults:
                return value
            if left:
                again = self.prompts.render("form", "again", {"faults": _some(faults)})
                text = await loop.answer_again(text, again)
        raise UnfitAnswer(f"none of {ANSWERS} answers has the form asked for; the last: {'; '.join(_some(faults))}")

    def read(self, text: str, *, cut: bool = False) -> tuple[Any, list[str]]:
        """The value in an answer, and everything that is wrong with it."""
        if cut:
            return None, ["the answer was cut off at the model's output limit; give a shorter one"]
        try:
            value = _value(text)
        except (NotJson, RecursionError) as error:
            why = str(error) if isinstance(error, NotJson) else "it is nested too deeply"
            return None, [f"the answer is not JSON: {why}; answer with the JSON value alone, without other text"]
        faults = self.faults(value)
        if faults and isinstance(value, dict) and value.keys() == {_INSIDE}:
            inner = self.faults(value[_INSIDE])
            return (value[_INSIDE], []) if not inner else (value, faults)
        return value, faults

    def faults(self, value: Any) -> list[str]:
        """Everything that is wrong with a value."""
        return value_faults(value, self.schema)


def _value(text: str) -> Any:
    """The JSON value that is the whole of an answer, in a fence or without; raises NotJson if there is other text.

    Nothing is repaired: what was lost of a value cannot be seen in the rest.
    """
    answer = without_thinking(text).strip()
    fence = _FENCED.match(answer)
    block = (fence[2] if fence else answer).strip()
    try:
        value = json.loads(block, strict=False, object_pairs_hook=unique_keys)
        canonical(value)
    except NotJson:
        raise
    except json.JSONDecodeError as error:  # its words differ between versions of Python, and a replay compares them
        looks_like = block.startswith(("{", "["))
        raise NotJson("it is malformed" if looks_like else "it is text" if block else "it is empty") from error
    except ValueError as error:  # NaN, Infinity, or thousands of digits
        raise NotJson("a number in it cannot be read") from error
    return join_surrogates(value)


def _pretty(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, indent=1)


def _some(faults: list[str]) -> list[str]:
    more = len(faults) - _MOST_FAULTS
    return faults if more <= 0 else [*faults[:_MOST_FAULTS], f"and {more} more of the same kind"]


@dataclass(frozen=True, slots=True)
class DataForm(Form):
    """The form of the answer; an answer that was judged before keeps its verdict."""

    memo: Memo
    wanted: DataSchema

    @classmethod
    def of(cls, wanted: DataSchema, prompts: Prompts, memo: Memo) -> DataForm:
        """The form that is wanted."""
        return cls(wanted.document, prompts, memo, wanted)

    def read(self, text: str, *, cut: bool = False) -> tuple[Any, list[str]]:
        """The value in an answer, and everything that is wrong with it; both are the same whenever it is asked."""
        value, faults = Form.read(self, text, cut=cut)
        key = self.memo.capture.hash(text)
        verdict = self.memo.finished.verdicts.get(key)
        if verdict is None:
            verdict = tuple(" ".join(fault.split()) for fault in faults)
            self.memo.record(AnswerChecked(key, verdict))
        return value, list(verdict)

    def faults(self, value: Any) -> list[str]:
        """Everything that is wrong with a value, by the program's own model if it is there."""
        return self.wanted.faults(value)
