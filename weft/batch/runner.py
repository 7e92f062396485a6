"""A batch: goals from a file, as many at a time as allowed, one line of results for each.

the file was checked → goals that an earlier sitting ended are passed over → each runs, or goes on from its journal
→ its line is written as it ends → until the file, the patience or the budget is at its end
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from executor.history.result import Result
from planner.errors import BudgetSpent
from planner.events import Event, RunFinished
from planner.model import Usage
from skills.errors import InputError, WeftError
from skills.text.plural import counted, plural
from weft.batch.engine import Job
from weft.runs.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weft.batch.engine import Engine
    from weft.batch.goals import BatchGoal
    from weft.batch.results import EarlierResult, Results
    from weft.batch.summary import BatchSummary
    from weft.models.budget import Budget

Why = Literal["failures", "budget", "interrupted"]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a batch is run; `max_failures` is a number of goals, or with `share` a share of those that ended."""

    jobs: int = 8
    max_failures: float | None = None
    share: bool = False
    retry_errors: bool = False
    rerun_changed: bool = False


@dataclass(slots=True)
class Batch:
    """One sitting of a batch. `watch` is told of every event of every goal."""

    engine: Engine
    results: Results
    history: dict[str, EarlierResult]
    budget: Budget
    options: BatchOptions
    summary: BatchSummary
    watch: BatchObserver = field(default_factory=lambda: BatchObserver())
    stopped: Why | None = None
    _now: Stop = field(default_factory=Stop)

    async def run(self, goals: Iterable[BatchGoal]) -> BatchSummary:
        """Run what is left to run. A goal's failure never touches another."""
        source = self._wanted(goals)
        workers = [asyncio.ensure_future(self._work(source)) for _ in range(self.options.jobs)]
        try:
            await asyncio.gather(*workers)
        except Exception:  # such as a results file that cannot be written: the others end well before it is said
            self.stop_now()
            await asyncio.gather(*workers, return_exceptions=True)
            raise
        return self.summary

    @property
    def through(self) -> bool:
        """Whether nothing is left that a later sitting would go on with, also of goals that this one was not for."""
        return self.stopped is None and all(one.status is not None for one in self.history.values())

    def finish_what_runs(self) -> None:
        """Begin no further goal; those under way end as they will."""
        self.stopped = self.stopped or "interrupted"

    def stop_now(self) -> None:
        """Stop the goals under way too; what is finished of them is kept."""
        self.finish_what_runs()
        self._now.set()

    async def _work(self, source: Iterator[BatchGoal]) -> None:
        while self.stopped is None and (goal := next(source, None)) is not None:
            await self._one(goal)

    async def _one(self, goal: BatchGoal) -> None:
        earlier = self.history.pop(goal.id, None)
        began = self.watch.began(goal)
        run = earlier.run_id if earlier else ""

        def note(run_id: str) -> None:
            nonlocal run
            run = run_id
            self.results.began(goal.id, goal.content_hash, run_id)

        job = Job(goal, run or None, note, self.watch.note)
        code = None
        try:
            self.budget.check()
            result = await self.engine.run(job, self._now)
        except BudgetSpent:
            self.stopped = self.stopped or "budget"
            return
        except WeftError as error:
            result, code = failed(goal, error, run), error.code
        except Exception as error:  # noqa: BLE001 - whatever goes wrong with one goal, the others go on
            what = WeftError(f"an unexpected error, please report it: {type(error).__name__}: {error}")
            result, code = failed(goal, what, run), "INTERNAL_ERROR"
        finally:
            self.watch.ended(goal, began)
        if result.status == "interrupted" or (result.status == "stopped" and self._spent()):
            return  # it has no line yet: a later sitting goes on with it
        self.summary.add(result)
        self.results.ended(row(goal, result, code))
        if self._too_many_failures():
            self.stopped = self.stopped or "failures"

    def _spent(self) -> bool:
        try:
            self.budget.check()
        except BudgetSpent:
            self.stopped = self.stopped or "budget"
            return True
        return False

    def _too_many_failures(self) -> bool:
        most = self.options.max_failures
        if most is None:
            return False
        if self.options.share:
            return self.summary.ended >= 10 and self.summary.failures > most * self.summary.ended
        return self.summary.failures > most

    def _wanted(self, goals: Iterable[BatchGoal]) -> Iterator[BatchGoal]:
        for goal in goals:
            before = self.history.get(goal.id)
            if before is not None and before.status is not None:
                self.history.pop(goal.id)
                self.summary.pass_over(before.status)
            else:
                yield goal


class BatchObserver:
    """Nobody watches; whoever does, tells of it."""

    def began(self, goal: BatchGoal) -> float:
        """A goal begins; gives when."""
        return 0.0

    def ended(self, goal: BatchGoal, began: float) -> None:
        """A goal ended."""

    def note(self, event: Event) -> None:
        """Something happened in some goal."""


def check_past(goals: Iterable[BatchGoal], history: dict[str, EarlierResult], options: BatchOptions) -> set[str]:
    """Which earlier results are to be made anew; a changed goal under an old id is refused unless asked for."""
    changed: list[str] = []
    again: set[str] = set()
    for goal in goals:
        before = history.get(goal.id)
        if before is None:
            continue
        if before.content_hash and before.content_hash != goal.content_hash:
            changed.append(goal.id)
        elif options.retry_errors and before.status in ("failed", "partial", "stopped", "clarification"):
            again.add(goal.id)
            history[goal.id] = replace(before, status=None)
    if changed and not options.rerun_changed:
        shown = ", ".join(changed[:10]) + (f" and {len(changed) - 10} more" if len(changed) > 10 else "")
        raise InputError(
            f"{counted(len(changed), 'goal')} {plural(len(changed), 'has', 'have')} changed since: {shown}",
            hint="--rerun-changed runs them again; or give them new ids",
        )
    for name in changed:
        again.add(name)
        del history[name]
    return again


def row(goal: BatchGoal, result: Result, code: str | None = None) -> dict[str, Any]:
    """A goal's line: its id and line, then what `run` gives."""
    more = {"model": goal.model} if goal.model else {}
    return {
        "id": goal.id,
        "line": goal.line,
        **result.to_dict(),
        "error_code": code or result.code,
        "seconds": round(result.seconds, 3),
        "content_hash": goal.content_hash,
        **more,
    }


def failed(goal: BatchGoal, error: WeftError, run: str = "") -> Result:
    """The result of a goal that could not be begun, or whose run, if it has one, could not go on."""
    said = f"{error.message}; {error.hint}" if error.hint else error.message
    end = RunFinished("failed", error=said)
    return Result(run, end.status, goal.text, None, end.error, None, (), (), Usage(), 0.0, None)
