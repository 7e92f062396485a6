"""Ray: connects to a cluster or starts one, and starts workers as actors. No other module imports Ray."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

# Ray prints messages about workers on standard output, where a batch may print JSON; the batch reports them itself.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".*")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray.exceptions import ActorDiedError, RayError
from ray.job_config import JobConfig
from ray.util import metrics
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from goalwright.batch.engines.ray.metrics import COUNTERS, GAUGES
from goalwright.batch.engines.ray.worker import GoalWorker
from goalwright.batch.limits.shared.limiter import Limiter
from goalwright.batch.options import OptionNeeded
from goalwright.models.call_process.pool import default_workers
from goalwright.settings.ray_security import answers_without_token, is_this_machine, token_is_set
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from goalwright.batch.engines.ray.messages import (
        GoalJob,
        NumberedGrant,
        NumberedRequest,
        Outcome,
        SharedObjects,
        WorkerInfo,
        WorkerReport,
        WorkerSetup,
    )
    from goalwright.batch.limits.rate_limiter import Rates
    from goalwright.batch.options import ClusterOptions

# Bytes of the object store; results are small.
_OBJECT_STORE = 128 * 2**20
# Concurrent actor calls besides goals: report, start, stop, close, and the poll for budget requests.
_SPARE_CALLS = 5
# Seconds that the head may take to respond.
_PROBE = 5.0
# Seconds that disconnecting may take.
_DISCONNECTING = 20.0
# Seconds between polls for messages of a head that is gone.
_POLL = 0.5
# The HTTP/2 preface and an empty SETTINGS frame, as gRPC sends them; the server responds with its own SETTINGS.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


class WorkerGone(ConnectionError):
    """The worker cannot be reached: it died, or the network failed. If `final`, it does not come back."""

    def __init__(self, message: str, *, final: bool) -> None:
        super().__init__(message)
        self.final = final


class _SafeJob(JobConfig):
    """A job whose workers do not import modules from the current folder first."""

    def _runtime_env_has_working_dir(self) -> bool:
        return True  # then Ray leaves the current folder alone


class _PatientSubscriber:
    """The subscriber of Ray's error listener, with a pause, because the listener spins when the head is gone."""

    def __init__(self, subscriber: Any) -> None:
        self._subscriber = subscriber

    def poll(self) -> Any:
        """Return what was published; None, after a pause, if the head is gone."""
        started = time.monotonic()
        published = self._subscriber.poll()
        if published[-1] is None and time.monotonic() - started < _POLL:
            time.sleep(_POLL)
        return published

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subscriber, name)


class GoalWorkerActor(GoalWorker):
    """A worker that reports which node of the cluster it is on."""

    async def start(self, shared: SharedObjects) -> WorkerInfo:
        """Get ready."""
        info = await GoalWorker.start(self, shared)
        return replace(info, machine=ray.get_runtime_context().get_node_id())


@dataclass(slots=True)
class WorkerHandle:
    """A worker as an actor; every call raises `WorkerGone` if it cannot be reached."""

    actor: Any
    shared: SharedObjects

    async def start(self) -> WorkerInfo:
        """Get ready."""
        info: WorkerInfo = await _answer(self.actor.start.remote(self.shared))
        return info

    async def run(self, job: GoalJob) -> Outcome:
        """Run a goal."""
        outcome: Outcome = await _answer(self.actor.run.remote(job))
        return outcome

    async def report(self) -> WorkerReport:
        """Return what happened since the last report."""
        report: WorkerReport = await _answer(self.actor.report.remote())
        return report

    async def poll_budget(self, granted: NumberedGrant | None) -> NumberedRequest:
        """Send the last budget grant, and wait for the worker's next request."""
        request: NumberedRequest = await _answer(self.actor.poll_budget.remote(granted))
        return request

    async def stop(self) -> None:
        """Stop all goals."""
        await _answer(self.actor.stop.remote())

    async def close(self) -> None:
        """Release what it holds."""
        await _answer(self.actor.close.remote())

    def restart(self) -> None:
        """Kill its process; Ray starts another one."""
        ray.kill(self.actor, no_restart=False)

    def end(self) -> None:
        """Kill it for good."""
        ray.kill(self.actor)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connected cluster: the number of workers, the memory that each may use, and the address of its head."""

    workers: int
    memory: float
    head: str = ""

    def start_workers(self, setup: WorkerSetup, shared: SharedObjects) -> list[WorkerHandle]:
        """Start the workers, spread over the nodes; Ray restarts them when they die."""
        actor = ray.remote(GoalWorkerActor).options(
            num_cpus=1,
            max_restarts=-1,
            max_task_retries=0,  # the journal decides what is repeated
            max_concurrency=setup.slots + _SPARE_CALLS,
            scheduling_strategy="SPREAD",
        )
        return [WorkerHandle(actor.remote(setup), shared) for _ in range(self.workers)]

    def limiter(self, rates: Rates) -> Any:
        """Start the limiter of all workers, if possible on this node; Ray restarts it when it dies."""
        on_this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
        return ray.remote(Limiter).options(num_cpus=0, max_restarts=-1, scheduling_strategy=on_this_node).remote(rates)

    def put(self, data: bytes) -> Any:
        """Store data once where every node can get it; returns a reference."""
        return ray.put(data)

    def metric_recorder(self) -> Callable[[str, float, dict[str, str]], None]:
        """Return a function that adds to one of Ray's counters or sets a gauge."""
        counters = {name: metrics.Counter(name, text, tags) for name, (text, tags) in COUNTERS.items()}
        gauges = {name: metrics.Gauge(name, text, tags) for name, (text, tags) in GAUGES.items()}

        def record(name: str, value: float, tags: dict[str, str]) -> None:
            if name in gauges:
                gauges[name].set(value, tags)
            elif value > 0:
                counters[name].inc(value, tags)

        return record

    async def head_answers(self) -> bool:
        """Whether the head responds; Ray ends this process a minute after it stops.

        The kernel accepts connections for a hanging process too, so this sends an HTTP/2 greeting and waits for a
        reply.
        """
        host, _, port = self.head.rpartition(":")
        try:
            async with asyncio.timeout(_PROBE):
                reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
                try:
                    writer.write(_GREETING)
                    await reader.read(1)
                except ConnectionError:
                    pass  # with TLS it may reject the greeting, which is a response too
                finally:
                    writer.close()
        except OSError:  # TimeoutError is one
            return False
        return True

    async def is_alive(self, machine: str) -> bool:
        """Whether a node of the cluster is alive."""
        try:
            async with asyncio.timeout(_PROBE):
                nodes = await asyncio.to_thread(ray.nodes)
        except (RayError, OSError):
            return False
        return any(node["NodeID"] == machine and node["Alive"] for node in nodes)

    async def disconnect(self) -> bool:
        """Disconnect, and return whether that was possible; a Ray that was started here ends.

        Ray would wait forever for a head that does not respond.
        """
        if await self.head_answers():
            thread = threading.Thread(target=ray.shutdown, daemon=True)
            thread.start()
            await asyncio.to_thread(thread.join, _DISCONNECTING)
            return not thread.is_alive()
        return False


def connect(options: ClusterOptions, most: int) -> Cluster:
    """Connect to the cluster at the address, or start Ray on this machine, for `most` workers at most."""
    arguments: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "job_config": _SafeJob()}
    if options.address is None:
        workers = min(options.workers or default_workers(), most)
        arguments |= {
            "address": "local",
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": _OBJECT_STORE,
        }
    else:
        check_address(options)
        arguments |= {"address": options.address}
    try:
        ray.init(**arguments, namespace="goalwright")
    except (RayError, OSError, RuntimeError, ValueError) as error:
        target = f"the Ray cluster at {options.address}" if options.address else "Ray"
        raise SetupError(
            f"{target} cannot be {'reached' if options.address else 'started'}: {_first_line(error)}",
            hint="run goalwright on a node of it, with the cluster's token, and see `ray status` there"
            if options.address
            else "see the newest folder below /tmp/ray for its logs",
        ) from error
    worker = ray._private.worker.global_worker
    if subscriber := getattr(worker, "gcs_error_subscriber", None):
        worker.gcs_error_subscriber = _PatientSubscriber(subscriber)  # type: ignore[attr-defined]
    try:
        return _cluster(options, most)
    except BaseException:
        ray.shutdown()
        raise


@contextmanager
def keeping_signal_handlers() -> Iterator[None]:
    """Restore this process's own SIGTERM handler after Ray has connected; call it in the main thread.

    Ray replaces it with one that aborts the process after three seconds.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def check_address(options: ClusterOptions) -> None:
    """Raise if the cluster has other machines and no authentication, so that anyone could run code on it."""
    host = (options.address or "auto").rpartition(":")[0].strip("[]")
    if host and not is_this_machine(host):
        _refuse_open(options, host)


def _refuse_open(options: ClusterOptions, hosts: str) -> None:
    if not (options.allow_open or token_is_set(os.environ)):
        raise _open_cluster(
            f"the Ray cluster on {hosts} is not only this machine, and Ray's token authentication is off"
        )


def _open_cluster(message: str) -> OptionNeeded:
    return OptionNeeded(
        message,
        option="allow_open",
        hint="anyone who reaches its ports can run code on it: set RAY_AUTH_MODE=token on every node "
        "(see docs/cluster.md), or accept the risk (allow_open)",
    )


def _cluster(options: ClusterOptions, most: int) -> Cluster:
    nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    others = [node["NodeManagerHostname"] for node in nodes if node["NodeManagerHostname"] != socket.gethostname()]
    if options.address is not None and others:
        _refuse_open(options, ", ".join(sorted(others)[:3]))
        head = ray.get_runtime_context().gcs_address
        if not options.allow_open and answers_without_token(head, os.environ):
            raise _open_cluster(f"the Ray cluster at {head} answers without a token: its authentication is off")
    cores = int(sum(node["Resources"].get("CPU", 0) for node in nodes))
    workers = min(options.workers or max(cores, 1), most)
    workers_per_node = -(-workers // max(len(nodes), 1))
    memory = min(node["Resources"].get("memory", float("inf")) for node in nodes) / workers_per_node
    return Cluster(workers, memory, ray.get_runtime_context().gcs_address)


async def _answer(reference: Awaitable[Any]) -> Any:
    try:
        return await reference
    except RayError as error:
        raise WorkerGone(_first_line(error), final=isinstance(error, ActorDiedError)) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
