"""A worker: runs goals in its own process and reports twice a second.

It opens the journal, loads what calls need, runs many goals at a time, and releases its leases when it is closed.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from goalwright.batch.bundle.unpack import unpack
from goalwright.batch.engine import Job
from goalwright.batch.engines.in_process import InProcess
from goalwright.batch.engines.ray.messages import (
    GoalEnded,
    GoalRefused,
    GoalReturned,
    NumberedRequest,
    WorkerInfo,
    WorkerReport,
    without_texts,
)
from goalwright.batch.engines.ray.sent_settings import check_goal, follow
from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.limits.shared.budget import WorkerBudget
from goalwright.batch.limits.shared.client import LimiterClient
from goalwright.batch.options import batch_settings
from goalwright.models.litellm.prices import PriceList
from goalwright.runs.stop import Stop
from goalwright.version import __version__
from goalwright_executor.stores.errors import BadStore, LeaseLost, RunHeld, StoreFailed
from goalwright_planner.errors import BudgetSpent
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from goalwright.batch.bundle.unpack import UnpackedBundle
    from goalwright.batch.engines.ray.messages import GoalJob, NumberedGrant, Outcome, SharedObjects, WorkerSetup
    from goalwright.batch.limits.shared.budget import BudgetGrant, BudgetRequest
    from goalwright.batch.limits.shared.messages import LimiterGrant, LimiterRequest
    from goalwright.settings.settings import Settings
    from goalwright_planner.events import Event

# Seconds between two reports.
REPORT = 0.5
# Threads beyond one per goal: for the journal, skills and MCP servers.
_SPARE_THREADS = 8


class GoalWorker:
    """Runs goals within the permits and the budget that the batch allots; the calls are made in this process."""

    def __init__(self, setup: WorkerSetup) -> None:
        self.setup = setup
        self.process = uuid4().hex
        batch = setup.options
        self._channel = BudgetChannel()
        self._budget = WorkerBudget(
            worker=self.process,
            request=self._channel.request,
            limit_cost=batch.max_cost,
            limit_tokens=batch.max_tokens,
            price_of=PriceList(setup.prices),
            assumes=setup.assumes,
        )
        self._limiter = LimiterClient(self.process, Rates(batch.max_calls, batch.rpm, batch.tpm), self._request_permits)
        self._shared: SharedObjects | None = None
        self._exchanges: list[asyncio.Task[None]] = []
        self._engine: InProcess | None = None
        self._starting = asyncio.Lock()
        self._stop = Stop()
        self._events: list[Event] = []

    async def start(self, shared: SharedObjects) -> WorkerInfo:
        """Get ready; asked again, only return its info."""
        info = WorkerInfo(self.process, f"{socket.gethostname()} (process {os.getpid()})", __version__)
        async with self._starting:
            if self._engine is not None or self.setup.version != __version__:
                return info
            self._shared = shared
            _name_in_spans(os.environ)
            # A goal that continues a run may wait in a thread until its lease is free.
            threads = ThreadPoolExecutor(self.setup.slots + _SPARE_THREADS, thread_name_prefix="goals")
            asyncio.get_running_loop().set_default_executor(threads)
            try:
                data = None if shared.bundle is None else await shared.bundle
                workspace = await asyncio.to_thread(open_workspace, self.setup, data)
                engine = await asyncio.to_thread(self._open, workspace)
                problems = await asyncio.to_thread(engine.problems, self.setup.models)
                await engine.warm()
            except GoalwrightError as error:
                fault = f"{error.message}; {error.hint}" if error.hint else error.message
                return replace(info, fault=fault, is_temporary=isinstance(error, BadStore | StoreFailed))
            _collect_less()
            self._engine = engine
            self._exchanges = [asyncio.create_task(client.run()) for client in (self._limiter, self._budget)]
        certain = tuple(problem for problem in problems if problem.certain)
        return replace(info, problems=certain, ignored=workspace.ignored)

    async def run(self, job: GoalJob) -> Outcome:
        """Run a goal, or continue its run."""
        engine = self._engine
        if engine is None:
            return GoalReturned("the worker has not started", "lost")
        try:
            if self.setup.settings is None:  # settings from another machine grant no rights on this one
                check_goal(job.goal, engine.settings)
            place, begun, waited = job.place, job.begun, job.waited
            result = await engine.attempt(Job(job.goal, job.run_id, self._record, place, begun, waited), self._stop)
            if result.status == "stopped":
                engine.budget.check()  # the batch's budget, not the goal's own
        except BudgetSpent as error:
            return GoalReturned(error.message, "budget", error.cost, error.tokens)
        except RunHeld as error:
            return GoalReturned(error.message, "held")
        except LeaseLost as error:
            return GoalReturned(error.message, "lost")
        except (StoreFailed, BadStore) as error:
            return GoalReturned(error.message, "journal")
        except GoalwrightError as error:
            return GoalRefused(error.message, error.hint, error.code)
        except Exception as error:  # noqa: BLE001 - the batch must always get an answer
            message = f"an unexpected error, please report it: {type(error).__name__}: {error}"
            return GoalRefused(message, "", "INTERNAL_ERROR")
        return GoalEnded(replace(result, plan=None))

    async def report(self) -> WorkerReport:
        """Wait half a second, and return what happened since the last report."""
        await asyncio.sleep(REPORT)
        events, self._events = tuple(self._events), []
        engine = self._engine
        assert engine is not None  # noqa: S101 - it has started
        pace, refused = engine.pace(), self._limiter.refused()
        return WorkerReport(events, pace, engine.commit_seconds, memory_used(), self._stop.is_set(), refused)

    async def poll_budget(self, granted: NumberedGrant | None) -> NumberedRequest:
        """Take the batch's last budget grant, and wait for this worker's next request."""
        return await self._channel.poll(granted)

    async def stop(self) -> None:
        """Stop all goals; what they finished is kept."""
        self._stop.set()

    async def close(self) -> None:
        """Release what is held."""
        self._stop.set()
        for task in self._exchanges:
            task.cancel()
        await asyncio.gather(*self._exchanges, return_exceptions=True)
        if self._engine is not None:
            await self._engine.close()
            await self._budget.close()

    async def _request_permits(self, request: LimiterRequest) -> LimiterGrant:
        assert self._shared is not None  # noqa: S101 - it has started
        grant: LimiterGrant = await self._shared.limiter.grant.remote(request)
        return grant

    def _open(self, workspace: WorkerWorkspace) -> InProcess:
        engine = workspace.open(self.setup)
        engine.budget, engine.limits = self._budget, self._limiter.limits
        _ = engine.runtime().journal  # report an unusable journal before any goal starts
        engine.start(1, self.setup.models)
        return engine

    def _record(self, event: Event) -> None:
        if (light := without_texts(event)) is not None:
            self._events.append(light)


def _collect_less() -> None:
    """Freeze loaded objects, and run the garbage collector as rarely as `goalwright batch` does."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def _name_in_spans(env: MutableMapping[str, str]) -> None:
    """Add the worker's name to the spans that this process sends."""
    attribute = f"goalwright.worker={quote(f'{socket.gethostname()}:{os.getpid()}')}"
    env["OTEL_RESOURCE_ATTRIBUTES"] = ",".join(filter(None, (env.get("OTEL_RESOURCE_ATTRIBUTES"), attribute)))


def memory_used() -> int:
    """Return the memory of this process in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # without /proc, use the peak
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class WorkerWorkspace:
    """A workspace with its settings; `ignored` lists settings of a bundle that do not apply on this machine."""

    workspace: Path
    settings: Settings
    bundle: UnpackedBundle | None = None
    ignored: tuple[str, ...] = ()

    def open(self, setup: WorkerSetup) -> InProcess:
        """Return an engine for goals here; raises if its skills are not the sender's."""
        engine = InProcess.of(self.workspace, self.settings, setup.options)
        if self.bundle is not None:
            engine.paths = self.bundle.paths()
            self.bundle.check(engine.runtime().workspace.skills.registry)
        return engine


def open_workspace(setup: WorkerSetup, data: bytes | None) -> WorkerWorkspace:
    """Return the batch's own workspace, or that of the bundle in `data`, unpacked and validated."""
    if setup.settings is not None:
        return WorkerWorkspace(Path(setup.workspace), setup.settings)
    bundle = unpack(data or b"", setup.bundle)
    resolved = bundle.resolved()
    settings = replace(
        batch_settings(resolved),
        journal=setup.journal,
        stream_plan=False,
        prices={**(resolved.settings.prices or {}), **setup.prices} or None,
        allow_unknown_cost=setup.assumes or resolved.settings.allow_unknown_cost,
        max_replans=min(setup.max_replans, resolved.settings.max_replans),
    )
    settings = follow(setup.flags, settings)
    file = f"{bundle.workspace / 'goalwright.toml'}: "
    warnings = [text.removeprefix(file) for text in resolved.warnings if text.startswith(file)]
    return WorkerWorkspace(bundle.workspace, settings, bundle, tuple(warnings))


@dataclass(slots=True)
class BudgetChannel:
    """Carries a worker's budget requests to the batch, which no worker can call: the batch polls instead.

    The worker requests and waits; the batch's poll returns the request, and its next poll brings the grant. There is
    one request at a time; the grant for an abandoned one is dropped.
    """

    _number: int = 0
    _request: BudgetRequest | None = None
    _grant: asyncio.Future[BudgetGrant] | None = None
    _requested: asyncio.Event = field(default_factory=asyncio.Event)

    async def request(self, request: BudgetRequest) -> BudgetGrant:
        """Send a request, and wait for its grant."""
        self._number += 1
        self._request, self._grant = request, asyncio.get_running_loop().create_future()
        self._requested.set()
        return await self._grant

    async def poll(self, granted: NumberedGrant | None) -> NumberedRequest:
        """Take the grant for the last request, and wait for the next request."""
        waiting = self._grant
        if granted is not None and granted.number == self._number and waiting is not None and not waiting.done():
            waiting.set_result(granted.grant)
        while True:
            await self._requested.wait()
            self._requested.clear()
            if self._request is not None and self._grant is not None and not self._grant.done():
                return NumberedRequest(self._number, self._request)
