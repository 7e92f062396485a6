"""The answer in the form that a program wants: read like any result with a form, and its verdicts are on record.

What is wrong with an answer may be found by code of the program, which a resume or a replay elsewhere does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.model_loop.form import Form
from goalwright_planner.events import AnswerChecked

if TYPE_CHECKING:
    from goalwright_executor.model_loop.data_schema import DataSchema
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.prompting.prompts import Prompts


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
