"""Results of earlier turns that tasks refer to (`<<turn2.survey.output>>`): read once, and recorded in the run."""

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
    """Reads the results of earlier turns for tasks; `recorded` are the results that the run has read already."""

    seen: ConversationTurn
    read: ReadOutput | None
    record: Record
    recorded: dict[str, str] = field(default_factory=dict)

    def given_to(self, task: Task, results: Mapping[str, str]) -> Mapping[str, str]:
        """Return a task's results, and the results of earlier turns that it refers to."""
        texts = (task.instruction, task.arguments, task.asked, task.needs_approval, task.for_each)
        earlier = self.named_in(texts) if isinstance(results, TaskResults) else {}
        return TaskResults({**results.outcomes, **earlier}) if earlier and isinstance(results, TaskResults) else results

    def named_in(self, texts: object) -> dict[str, Done]:
        """Return the results of earlier turns that texts refer to, by their names in the texts."""
        return {name: Done(self._text(result)) for name, result in self._referred(texts).items()}

    def readable_in(self, texts: object) -> dict[str, Done]:
        """Return the results of `named_in` that can still be read."""
        readable = {}
        for name, result in self._referred(texts).items():
            with suppress(MissingField):
                readable[name] = Done(self._text(result))
        return readable

    def _referred(self, texts: object) -> dict[str, TurnResult]:
        ids = {reference.id for reference in references(texts)}
        results = {earlier_id(result.turn, result.task): result for result in self.seen.results}
        return {name: result for name, result in results.items() if name in ids}

    def _text(self, result: TurnResult) -> str:
        name = earlier_id(result.turn, result.task)
        if name not in self.recorded:
            text = self.read(result) if self.read is not None else None
            if text is None:
                raise MissingField(f"<<{name}.output>> cannot be read: run {result.run_id} is no longer in the journal")
            self.record(EarlierOutputRead(result.turn, result.task, text))
            self.recorded[name] = text
        return self.recorded[name]
