"""Runs the goals of a batch, enough at a time to keep the call slots busy, and writes a line of results for each.

Goals with an earlier result are skipped; others run, or resume from the journal, until all goals have ended, too many
failed, or the budget is spent.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from goalwright.batch.engine import Job
from goalwright.batch.options import OptionNeeded
from goalwright.batch.results import EarlierResult
from goalwright.runs.goal import BatchPlace
from goalwright.runs.run_id import new_run_id
from goalwright.runs.stop import Stop
from goalwright_executor.history.result import Result
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.model import Usage
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import counted, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from goalwright.batch.engine import Engine
    from goalwright.batch.goals import BatchGoal
    from goalwright.batch.options import BatchOptions
    from goalwright.batch.results import Results
    from goalwright.batch.summary import BatchSummary
    from goalwright.models.budget import Budget
    from goalwright_planner.events import Event

StopReason = Literal["failures", "budget", "interrupted"]

_RETRIED = ("failed", "partial", "stopped")
_ENOUGH_FOR_A_SHARE = 10
# Seconds between polls for idle call slots while no goal ends.
_POLL = 0.05


class BatchObserver:
    """Receives the goals and events of a batch; this one ignores them."""

    def began(self, goal: BatchGoal) -> float:
        """A goal starts; returns its start time."""
        return 0.0

    def ended(self, goal: BatchGoal, began: float) -> None:
        """A goal ended."""

    def note(self, event: Event) -> None:
        """An event of any goal."""

    def say(self, text: str) -> None:
        """A message about the whole batch, such as a lost worker."""


@dataclass(slots=True)
class BatchRunner:
    """One run over a batch's goals; `earlier` has results and unfinished runs of previous runs.

    `batch` is the batch's id in the journal; `spent` is the budget's error, once it is spent.
    """

    engine: Engine
    results: Results
    earlier: dict[str, EarlierResult]
    budget: Budget
    options: BatchOptions
    summary: BatchSummary
    observer: BatchObserver = field(default_factory=BatchObserver)
    batch: str = ""
    stopped: StopReason | None = None
    spent: BudgetSpent | None = None
    _now: Stop = field(default_factory=Stop)
    _running: set[asyncio.Future[None]] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _failure: BaseException | None = None
    _left_unfinished: bool = False

    async def run(self, goals: Iterable[BatchGoal]) -> BatchSummary:
        """Run the remaining goals. A goal's failure never affects another."""
        source = self._left(goals)
        try:
            while await self._room() and (goal := next(source, None)) is not None:
                self._start(goal)
            while self._running:
                await self._change()
            if self._left_unfinished:
                self.finish_running()
            elif self.stopped == "failures" and self.summary.ended + self.summary.skipped == self.summary.goals:
                self.stopped = None  # all goals had begun, so there was nothing to stop
        except Exception:  # such as an unwritable results file: let the other goals end first
            self.stop_now()
            await asyncio.gather(*self._running, return_exceptions=True)
            raise
        finally:
            for running in self._running:  # only if this run itself was cancelled
                running.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
        return self.summary

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to resume, also among goals that this run did not take."""
        return self.stopped is None and all(result.status is not None for result in self.earlier.values())

    def finish_running(self) -> None:
        """Start no further goal; running goals end normally."""
        self.stopped = self.stopped or "interrupted"

    def stop_now(self) -> None:
        """Stop the running goals too; what they finished is kept."""
        self.finish_running()
        self._now.set()

    async def _room(self) -> bool:
        """Wait until another goal should start; return False once none should."""
        most = self.options.jobs or math.inf
        while self.stopped is None:
            running = len(self._running)
            if running < most and self.engine.has_room(running):
                return True
            await self._change()
        return False

    def _start(self, goal: BatchGoal) -> None:
        running = asyncio.ensure_future(self._run_goal(goal))
        self._running.add(running)
        running.add_done_callback(self._note_end)

    def _note_end(self, ended: asyncio.Future[None]) -> None:
        self._running.discard(ended)
        if not ended.cancelled() and (error := ended.exception()) is not None:
            self._failure = self._failure or error
        self._changed.set()

    async def _change(self) -> None:
        """Wait until a goal ends or it is time to poll again; re-raise unhandled errors of goals."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL):
                await self._changed.wait()
        self._changed.clear()
        if self._failure is not None:
            raise self._failure

    async def _run_goal(self, goal: BatchGoal) -> None:
        if self._budget_is_spent():
            return
        earlier = self.earlier.pop(goal.id, None)
        begun = earlier.run_id if earlier else ""
        job = self._job(goal, begun or new_run_id(), begun=bool(begun), waited=earlier is not None and earlier.waited)
        if not begun:
            self.results.began(goal.id, goal.content_hash, job.run_id)
        began, code = self.observer.began(goal), None
        try:
            result = await self.engine.run(job, self._now)
        except BudgetSpent as spent:
            self._note_spent(spent)
            return
        except GoalwrightError as error:
            result, code = failed(goal, error, job.run_id), error.code
        except Exception as error:  # noqa: BLE001 - one goal's failure must not end the others
            unexpected = GoalwrightError(f"an unexpected error, please report it: {type(error).__name__}: {error}")
            result, code = failed(goal, unexpected, job.run_id), "INTERNAL_ERROR"
        finally:
            self.observer.ended(goal, began)
        if self._now.is_set():  # another process may have set it, through the journal
            self.finish_running()
        if result.status == "interrupted" or (result.status == "stopped" and self._budget_is_spent()):
            self._left_unfinished = True  # perhaps a person stopped only this goal
            self.summary.add_spent(result)
            return  # no line yet: a resumed batch continues it
        self.summary.add(result)
        self.results.ended(row(goal, result, code))
        if self._too_many_failures():
            self.stopped = self.stopped or "failures"

    def _job(self, goal: BatchGoal, run_id: str, *, begun: bool, waited: bool) -> Job:
        place = BatchPlace(self.batch, goal.id, self.summary.goals) if self.batch else None
        return Job(goal, run_id, self.observer.note, place, begun, waited and not self.options.retry_errors)

    def _budget_is_spent(self) -> bool:
        try:
            self.budget.check()
        except BudgetSpent as spent:
            self._note_spent(spent)
            return True
        return False

    def _note_spent(self, spent: BudgetSpent) -> None:
        """Stop, and keep the error of the call that needs most."""
        self.stopped = self.stopped or "budget"
        if self.spent is None or spent.tokens >= self.spent.tokens:
            self.spent = spent

    def _too_many_failures(self) -> bool:
        failures, ended = self.summary.failures, self.summary.ended
        most, share = self.options.max_failures, self.options.max_failure_share
        if most is not None and failures > most:
            return True
        return share is not None and ended >= _ENOUGH_FOR_A_SHARE and failures > share * ended

    def _left(self, goals: Iterable[BatchGoal]) -> Iterator[BatchGoal]:
        for goal in goals:
            before = self.earlier.get(goal.id)
            if before is not None and before.status is not None:
                self.earlier.pop(goal.id)
                self.summary.skip(before.status)
            else:
                yield goal


def earlier_results_to_redo(
    goals: Iterable[BatchGoal],
    earlier: dict[str, EarlierResult],
    options: BatchOptions,
    goes_on: Callable[[str], bool],
) -> set[str]:
    """Return the ids whose earlier results are dropped and run again; changed goals are refused unless allowed.

    A changed goal gets a new run, so that its old one is not found again. A goal that waited for a person is continued
    if its run `goes_on`.
    """
    changed: dict[str, EarlierResult] = {}
    again: set[str] = set()
    for goal in goals:
        before = earlier.get(goal.id)
        if before is None:
            continue
        if before.content_hash and before.content_hash != goal.content_hash:
            changed[goal.id] = EarlierResult(goal.content_hash, new_run_id())
        elif (options.retry_errors and before.status in _RETRIED) or (
            before.status == "waiting" and goes_on(before.run_id)
        ):
            again.add(goal.id)
            earlier[goal.id] = replace(before, status=None, waited=before.status == "waiting")
    if changed and not options.rerun_changed:
        shown = ", ".join([*changed][:10]) + (f" and {len(changed) - 10} more" if len(changed) > 10 else "")
        raise OptionNeeded(
            f"{counted(len(changed), 'goal')} {plural(len(changed), 'has', 'have')} changed since: {shown}",
            option="rerun_changed",
            hint="give them new ids, or run them again (rerun_changed)",
        )
    earlier |= changed
    return again | changed.keys()


def row(goal: BatchGoal, result: Result, code: str | None = None) -> dict[str, Any]:
    """Return a goal's line of results: its id and line, then the fields of `run`."""
    model = {"model": goal.model} if goal.model else {}
    return {
        "id": goal.id,
        "line": goal.line,
        **result.to_dict(),
        "error_code": code or result.code,
        "seconds": round(result.seconds, 3),
        "content_hash": goal.content_hash,
        **model,
    }


def failed(goal: BatchGoal, error: GoalwrightError, run: str = "") -> Result:
    """Return the result of a goal that could not start, or whose run could not be continued."""
    message = f"{error.message}; {error.hint}" if error.hint else error.message
    return Result(run, "failed", goal.text, None, message, None, (), (), Usage(), 0.0, None)
