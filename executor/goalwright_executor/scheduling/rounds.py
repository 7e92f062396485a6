"""Rounds: a task with `repeat` is repeated until a condition on its result holds.

The first round is the task itself. While its result does not end it, the next round joins the plan as `draft#2`, with
that result in its prompt. The verdicts are recorded, so a resume and a replay have the same rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright_executor.results.outcome import Done, Failed, Grown, Outcome, Skipped, Unneeded
from goalwright_executor.results.task_results import TaskResults, done_among
from goalwright_planner.errors import ModelError
from goalwright_planner.plan.task import PreviousRound
from goalwright_planner.plan.task_id import round_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.scheduling.condition import ConditionCheck
    from goalwright_executor.scheduling.expand import FanOut
    from goalwright_planner.plan.task import Task


@dataclass(frozen=True, slots=True)
class Rounds:
    """Repeats tasks with `repeat` in further rounds, which join the plan like other `parts`."""

    parts: FanOut
    condition: ConditionCheck

    async def after_first(
        self, task: Task, results: Mapping[str, str], ended: str | Done | Grown | Unneeded
    ) -> Outcome | Grown:
        """Return how a task continues after its first round, which `ended` or grew into subtasks."""
        outcomes = results.outcomes if isinstance(results, TaskResults) else {}
        return await self._after(task, results, 1, ended, outcomes)

    async def _after(
        self,
        task: Task,
        results: Mapping[str, str],
        number: int,
        ended: str | Done | Outcome | Grown,
        outcomes: Mapping[str, Outcome],
    ) -> Outcome | Grown:
        match ended:
            case Grown():

                async def finish(outcomes: Mapping[str, Outcome]) -> Outcome | Grown:
                    return await self._after(task, results, number, await ended.finish(outcomes), outcomes)

                return Grown(ended.tasks, finish, ended.width)
            case str():
                return await self._judge(task, results, number, ended, outcomes)
            case Done():
                return await self._judge(task, results, number, ended.output, outcomes)
            case _:
                return ended

    async def _judge(
        self, task: Task, results: Mapping[str, str], number: int, output: str, outcomes: Mapping[str, Outcome]
    ) -> Outcome | Grown:
        """Return Done if the result of a round ends the task, Failed after the last round, else the next round."""
        repeat = task.repeat
        assert repeat is not None  # noqa: S101 - the caller checked it
        try:
            verdict = await self.condition.ends(task, repeat, number, output, outcomes)
        except ModelError as error:
            return Failed(str(error), output)
        if verdict.holds:
            return Done(output)
        if number >= repeat.most:
            # Without the values: a shortened path in one would differ in another checkout.
            why = f": {verdict.said}" if verdict.said else ""
            return Failed(f"it was done in {number} rounds, and this does not hold: {repeat.text}{why}", output)
        return self._next(task, results, number + 1, PreviousRound(output, repeat.text, verdict.said))

    def _next(self, task: Task, results: Mapping[str, str], number: int, previous: PreviousRound) -> Failed | Grown:
        again = replace(
            task,
            id=round_id(task.id, number),
            depends_on=done_among(task.depends_on, results),
            when=None,
            max_cost=None,
            repeat=None,
            previous=previous,
        )
        if (fault := self.parts.round_fault(task, again)) is not None:
            return Failed(fault, previous.result)
        again = self.parts.join_round(task, again)

        async def finish(outcomes: Mapping[str, Outcome]) -> Outcome | Grown:
            match outcomes[again.id]:
                case Done(output=output):
                    return await self._judge(task, results, number, output, outcomes)
                case Skipped(error=error):
                    return Skipped(f"round {number}: {error}")
                case ended:
                    return Failed(f"round {number}: {ended.error}", previous.result)

        return Grown((again,), finish)
