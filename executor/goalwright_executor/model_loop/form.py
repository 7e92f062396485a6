"""Validates an answer as JSON against a schema, and asks for invalid answers again, twice.

The verdicts on answers for programs are recorded: their faults may be found by the program's own code, which is not
there when the run is resumed or replayed elsewhere.
"""

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
# Providers enforce only objects, so another kind of value is wrapped in one.
_WRAPPER = "result"
_FENCED = re.compile(r"\A(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\Z", re.DOTALL)


class UnfitAnswer(GoalwrightError):
    """No answer of the model conforms to the required schema."""

    code = "UNFIT_ANSWER"


@dataclass(frozen=True, slots=True)
class Form:
    """The required form of an answer; the `form` agent of `prompts` describes it to the model."""

    schema: Mapping[str, Any]
    prompts: Prompts

    @property
    def shown(self) -> str:
        """The description of the form in a prompt."""
        return self.prompts.render("form", "user", {"schema": _pretty(self.schema)})

    @property
    def enforced(self) -> Mapping[str, Any]:
        """The schema that a provider is asked to enforce."""
        if self.schema.get("type") == "object":
            return self.schema
        inner = {key: value for key, value in self.schema.items() if key != "$defs"}
        defined = {"$defs": self.schema["$defs"]} if "$defs" in self.schema else {}
        return {"type": "object", "properties": {_WRAPPER: inner}, "required": [_WRAPPER]} | defined

    async def answer(self, loop: ModelLoop) -> Any:
        """Return the value in the model's answer; raises UnfitAnswer if no answer conforms."""
        text = await loop.answer()
        for left in reversed(range(ANSWERS)):
            value, faults = self.read(text, cut=loop.cut)
            if not faults:
                return value
            if left:
                again = self.prompts.render("form", "again", {"faults": _limited(faults)})
                text = await loop.answer_again(text, again)
        raise UnfitAnswer(f"none of {ANSWERS} answers has the form asked for; the last: {'; '.join(_limited(faults))}")

    def read(self, text: str, *, cut: bool = False) -> tuple[Any, list[str]]:
        """Return the value in an answer, and all its faults."""
        if cut:
            return None, ["the answer was cut off at the model's output limit; give a shorter one"]
        try:
            value = _value(text)
        except (NotJson, RecursionError) as error:
            why = str(error) if isinstance(error, NotJson) else "it is nested too deeply"
            return None, [f"the answer is not JSON: {why}; answer with the JSON value alone, without other text"]
        faults = self.faults(value)
        if faults and isinstance(value, dict) and value.keys() == {_WRAPPER}:
            inner = self.faults(value[_WRAPPER])
            return (value[_WRAPPER], []) if not inner else (value, faults)
        return value, faults

    def faults(self, value: Any) -> list[str]:
        """Return all faults of a value."""
        return value_faults(value, self.schema)


def _value(text: str) -> Any:
    """Parse an answer that is only a JSON value, in a code fence or not; raises NotJson if there is other text.

    Nothing is repaired, because a repair could hide lost parts of the value.
    """
    answer = without_thinking(text).strip()
    fence = _FENCED.match(answer)
    block = (fence[2] if fence else answer).strip()
    try:
        value = json.loads(block, strict=False, object_pairs_hook=unique_keys)
        canonical(value)
    except NotJson:
        raise
    except json.JSONDecodeError as error:  # Python's own message differs between versions, but replays compare messages
        looks_like = block.startswith(("{", "["))
        raise NotJson("it is malformed" if looks_like else "it is text" if block else "it is empty") from error
    except ValueError as error:  # NaN, Infinity, or thousands of digits
        raise NotJson("a number in it cannot be read") from error
    return join_surrogates(value)


def _pretty(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, indent=1)


def _limited(faults: list[str]) -> list[str]:
    excess = len(faults) - _MOST_FAULTS
    return faults if excess <= 0 else [*faults[:_MOST_FAULTS], f"and {excess} more of the same kind"]


@dataclass(frozen=True, slots=True)
class DataForm(Form):
    """The form of an answer for a program; an answer that was judged before keeps its verdict."""

    memo: Memo
    data_schema: DataSchema

    @classmethod
    def of(cls, schema: DataSchema, prompts: Prompts, memo: Memo) -> DataForm:
        """Return the form of a schema."""
        return cls(schema.document, prompts, memo, schema)

    def read(self, text: str, *, cut: bool = False) -> tuple[Any, list[str]]:
        """Return the value in an answer and all its faults, which stay the same on repetition."""
        value, faults = Form.read(self, text, cut=cut)
        key = self.memo.capture.hash(text)
        verdict = self.memo.finished.verdicts.get(key)
        if verdict is None:
            verdict = tuple(" ".join(fault.split()) for fault in faults)
            self.memo.record(AnswerChecked(key, verdict))
        return value, list(verdict)

    def faults(self, value: Any) -> list[str]:
        """Return all faults of a value, by the program's own type if it is available."""
        return self.data_schema.faults(value)
