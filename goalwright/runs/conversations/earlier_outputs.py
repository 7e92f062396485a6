"""Results of earlier turns that tasks refer to, as `<<turn2.survey.output>>`: read once, and recorded in the run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_executor.results.outcome import Done
from goalwright_executor.results.task_results import MissingField, TaskResults
from goalwright_planner.events import EarlierOutputRead
from goalwright_planner.plan.references import earlier_id, references

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.events import ConversationTurn, Record, TurnResult
    from goalwright_planner.plan.task import Task

ReadOutput = Callable[["TurnResult"], "str | None"]


@dataclass(slots=True)
class EarlierOutputs:
    """Gives tasks the results of earlier turns; `recorded` are those that the run has read before."""

    seen: ConversationTurn
    read: ReadOutput | None
    record: Record
    recorded: dict[str, str] = field(default_factory=dict)

    def given_to(self, task: Task, results: Mapping[str, str]) -> Mapping[str, str]:
        """The results that a task can refer to, with those of earlier turns that it does refer to."""
        texts = (task.instruction, task.arguments, task.asked, task.needs_approval, task.for_each)
        found = self.named_in(texts) if isinstance(results, TaskResults) else {}
        return TaskResults({**results.outcomes, **found}) if found and isinstance(results, TaskResults) else results

    def named_in(self, texts: object) -> dict[str, Done]:
        """The results of earlier turns that texts refer to, by what they are called there."""
        return {name: Done(self._text(one)) for name, one in self._wanted(texts).items()}

    def readable_in(self, texts: object) -> dict[str, Done]:
        """As `named_in`, without those that can no longer be read."""
        found = {}
        for name, one in self._wanted(texts).items():
            with suppress(MissingField):
                found[name] = Done(self._text(one))
        return found

    def _wanted(self, texts: object) -> dict[str, TurnResult]:
        named = {reference.id for reference in references(texts)}
        every = {earlier_id(one.turn, one.task): one for one in self.seen.results}
        return {name: one for name, one in every.items() if name in named}

    def _text(self, result: TurnResult) -> str:
        name = earlier_id(result.turn, result.task)
        if name not in self.recorded:
            text = self.read(result) if self.read is not None else None
            if text is None:
                raise MissingField(f"<<{name}.output>> cannot be read: run {result.run_id} is no longer in the journal")
            self.record(EarlierOutputRead(result.turn, result.task, text))
            self.recorded[name] = text
        return self.recorded[name]
