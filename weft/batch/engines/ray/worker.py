"""A worker: runs the goals that it is given in its own process, and reports twice a second.

begin: opens the journal and loads what calls need → run, many at a time → report → stop → close: leases are released
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from weft.batch.engine import Job
from weft.batch.engines.ray.messages import (
    GoalEnded,
    GoalRefused,
    GoalReturned,
    WorkerFacts,
    WorkerReport,
    without_texts,
)
from weft.batch.engines.ray.questions import BudgetLine
from weft.batch.engines.ray.workplace import workplace
from weft.batch.limits.rate_limiter import Rates
from weft.batch.limits.shared.allotted_budget import AllottedBudget
from weft.batch.limits.shared.client import LimiterClient
from weft.runs.stop import Stop
from weft.version import __version__
from weft_executor.stores.errors import BadStore, LeaseLost, RunHeld, StoreFailed
from weft_planner.errors import BudgetSpent
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from weft.batch.engines.in_process import InProcess
    from weft.batch.engines.ray.messages import GoalJob, Outcome, SharedParts, WorkerSetup
    from weft.batch.engines.ray.questions import BudgetAnswer, BudgetQuestion
    from weft.batch.engines.ray.workplace import Workplace
    from weft.batch.limits.shared.messages import Allotment, Ask
    from weft_planner.events import Event

# Seconds between two reports.
REPORT = 0.5
# Threads beyond one per goal: for the journal, skills and MCP servers.
_SPARE_THREADS = 8


class GoalWorker:
    """Runs goals within what the batch's limiter and budget allot it; the engine inside makes its calls here."""

    def __init__(self, setup: WorkerSetup) -> None:
        self.setup = setup
        self.process = uuid4().hex
        batch = setup.options
        self._line = BudgetLine()
        self._budget = AllottedBudget(
            worker=self.process, ask=self._line.ask, limit_cost=batch.max_cost, limit_tokens=batch.max_tokens
        )
        self._limiter = LimiterClient(self.process, Rates(batch.max_calls, batch.rpm, batch.tpm), self._ask_limiter)
        self._parts: SharedParts | None = None
        self._talking: list[asyncio.Task[None]] = []
        self._engine: InProcess | None = None
        self._beginning = asyncio.Lock()
        self._stop = Stop()
        self._events: list[Event] = []

    async def begin(self, parts: SharedParts) -> WorkerFacts:
        """Get ready; asked again, say once more who this is."""
        facts = WorkerFacts(self.process, f"{socket.gethostname()} (process {os.getpid()})", __version__)
        async with self._beginning:
            if self._engine is not None or self.setup.version != __version__:
                return facts
            self._parts = parts
            _name_in_spans(os.environ)
            # A goal that continues a run may wait in a thread until the run is free.
            threads = ThreadPoolExecutor(self.setup.slots + _SPARE_THREADS, thread_name_prefix="goals")
            asyncio.get_running_loop().set_default_executor(threads)
            try:
                data = None if parts.bundle is None else await parts.bundle
                place = await asyncio.to_thread(workplace, self.setup, data)
                engine = await asyncio.to_thread(self._open, place)
                problems = await asyncio.to_thread(engine.problems, self.setup.models)
                await engine.warm()
            except WeftError as error:
                fault = f"{error.message}; {error.hint}" if error.hint else error.message
                return replace(facts, fault=fault, passing=isinstance(error, BadStore | StoreFailed))
            _collect_less()
            self._engine = engine
            self._talking = [asyncio.create_task(one.run()) for one in (self._limiter, self._budget)]
        certain = tuple(problem for problem in problems if problem.certain)
        return replace(facts, problems=certain, ignored=place.ignored)

    async def run(self, assignment: GoalJob) -> Outcome:
        """Run a goal, or continue its run."""
        engine = self._engine
        if engine is None:
            return GoalReturned("the worker has not begun", "lost")
        given = assignment
        job = Job(given.goal, given.run_id, self._note, given.place, given.begun, given.waited)
        try:
            result = await engine.run(job, self._stop)
            if result.status == "stopped":
                engine.budget.check()  # the batch's, not the goal's own
        except BudgetSpent as error:
            return GoalReturned(error.message, "budget")
        except RunHeld as error:
            return GoalReturned(error.message, "held")
        except LeaseLost as error:
            return GoalReturned(error.message, "lost")
        except (StoreFailed, BadStore) as error:
            return GoalReturned(error.message, "journal")
        except WeftError as error:
            return GoalRefused(error.message, error.hint, error.code)
        except Exception as error:  # noqa: BLE001 - the batch must get an answer, whatever happens
            what = f"an unexpected error, please report it: {type(error).__name__}: {error}"
            return GoalRefused(what, "", "INTERNAL_ERROR")
        return GoalEnded(replace(result, plan=None))

    async def report(self) -> WorkerReport:
        """What happened since the last report, at most twice a second."""
        await asyncio.sleep(REPORT)
        events, self._events = tuple(self._events), []
        engine = self._engine
        assert engine is not None  # noqa: S101 - it reports after it has begun
        pace, refused = engine.pace(), self._limiter.refused()
        return WorkerReport(events, pace, engine.commit_seconds, memory_used(), self._stop.is_set(), refused)

    async def fetch(self, answer: BudgetAnswer | None) -> BudgetQuestion:
        """Take what the batch allotted, and wait until there is something to ask of its budget."""
        return await self._line.fetch(answer)

    async def stop(self) -> None:
        """Stop all goals; what they finished is kept."""
        self._stop.set()

    async def close(self) -> None:
        """Release what is held."""
        self._stop.set()
        for task in self._talking:
            task.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()
            await self._budget.close()

    async def _ask_limiter(self, ask: Ask) -> Allotment:
        assert self._parts is not None  # noqa: S101 - it asks after it has begun
        allotment: Allotment = await self._parts.limiter.ask.remote(ask)
        return allotment

    def _open(self, place: Workplace) -> InProcess:
        engine = place.open(self.setup)
        engine.budget, engine.limits = self._budget, self._limiter.limits
        _ = engine.runtime().journal  # one that cannot be used is reported before any goal starts
        engine.start(1, self.setup.models)
        return engine

    def _note(self, event: Event) -> None:
        if (light := without_texts(event)) is not None:
            self._events.append(light)


def _collect_less() -> None:
    """Have the garbage collector pass over what was loaded, and run as seldom as in `weft batch`."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def _name_in_spans(env: MutableMapping[str, str]) -> None:
    """Have the spans that this process sends say which worker it is."""
    mine = f"weft.worker={quote(f'{socket.gethostname()}:{os.getpid()}')}"
    env["OTEL_RESOURCE_ATTRIBUTES"] = ",".join(filter(None, (env.get("OTEL_RESOURCE_ATTRIBUTES"), mine)))


def memory_used() -> int:
    """The memory of this process in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # the most so far, where the system does not tell what it is now
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")
