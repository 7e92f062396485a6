"""The single writer of a process: entries queue up during a commit, and the next commit writes them together."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from goalwright_executor.journal.log import LogEntry, rows_of
from goalwright_executor.stores.errors import LeaseLost, StoreFailed
from goalwright_executor.stores.lease import BEAT, Handover, myself
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_executor.stores.lease import StopRequest
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store

# Seconds that entries without a waiter may wait for others.
LINGER = 0.05
# The most waiters per commit. During a commit, the waiters of the previous one continue; with one commit for all, the
# disk would be idle until they have put their next entries.
COHORT = 100
# Seconds between checks for stop requests of other processes.
STOP_REQUESTS = 1.0
_SAFE = "earlier events are safe: `goalwright resume` continues from there"


class Waiter(NamedTuple):
    """A caller that waits until all entries before it are on disk; `run_id` is empty for all runs."""

    future: asyncio.Future[None]
    run_id: str = ""


Outcome = tuple[asyncio.Future[None], GoalwrightError | None]


class LeaseChange(NamedTuple):
    """A run that this process takes or releases."""

    run_id: str
    taken: bool


class Commit(NamedTuple):
    """The entries and lease changes of one commit, and the callers that wait for it."""

    entries: list[LogEntry]
    changes: list[LeaseChange]
    waiters: list[Waiter]


class Writer:
    """A thread that commits entries in order; after the first failure it writes nothing more.

    A run that another process took over fails alone: nothing more is written to it, and only its waiters raise.
    `on_release` is called with runs after their release.
    """

    def __init__(self, store: Store, on_release: Callable[[Sequence[str]], None] | None = None) -> None:
        self.store = store
        self._on_release = on_release
        self.holder = myself()
        self.leases: set[str] = set()
        self.failure: GoalwrightError | None = None
        self.lost: dict[str, LeaseLost] = {}
        # One queue keeps the order: a waiter waits for all entries before it, and a run's entries precede its lease
        # changes.
        self._queue: deque[LogEntry | LeaseChange | Waiter] = deque()
        self._pending = threading.Event()
        self._idle = False
        self._urgent = threading.Event()
        self._closing = False
        self._ended = False
        self._last_beat = self._last_look = time.monotonic()
        self._committing_since: float | None = None
        self._last_commit = 0.0
        self._listeners: dict[str, Callable[[StopRequest], None]] = {}
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL of the journal."""
        return self.store.url

    @property
    def commit_seconds(self) -> float:
        """The duration of the last commit, or of the current one if it is longer."""
        since = self._committing_since
        return max(self._last_commit, 0.0 if since is None else time.monotonic() - since)

    def put(self, entry: LogEntry) -> None:
        """Accept an entry; it is written soon."""
        self._queue.append(entry)
        if self._idle:  # checked after queueing: the thread checks the queue again before it waits
            self._pending.set()

    def settle(self, run_id: str = "") -> asyncio.Future[None]:
        """Wait until all entries so far are on disk; raises if they, or those of `run_id`, cannot be written."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(Waiter(done, run_id))
        if self._ended:  # checked after queueing: the thread notifies all waiters queued before its end
            _resolve([(done, self.failure or _closed())])
        elif not self._urgent.is_set():
            self._hurry()
        return done

    def take(self, run_id: str) -> None:
        """Take the lease of a new run with the next commit; its first entry must be queued before."""
        self._queue.append(LeaseChange(run_id, taken=True))
        self._pending.set()

    def claim(self, run_id: str) -> None:
        """Take the lease of a stored run at once; raises if another process has it."""
        self.store.claim(run_id, self.holder)
        self.lost.pop(run_id, None)
        self.leases.add(run_id)

    def release(self, run_id: str) -> None:
        """Release a run with the next commit."""
        self._queue.append(LeaseChange(run_id, taken=False))
        self._pending.set()

    def listen(self, run_id: str, listener: Callable[[StopRequest], None] | None) -> None:
        """Call `listener`, in the writer's thread, when another process requests a stop; None unsubscribes."""
        if listener is None:
            self._listeners.pop(run_id, None)
        else:
            self._listeners[run_id] = listener
            self._pending.set()  # the thread wakes up more often with listeners

    def close(self) -> None:
        """Write all pending entries and stop; runs that are still leased after a failure are released if possible."""
        self._closing = True
        self._hurry()
        self._thread.join()
        if self.leases:
            with suppress(GoalwrightError):
                self.store.append([], {}, Handover(self.holder, released=sorted(self.leases)))
            self.leases.clear()

    def _hurry(self) -> None:
        self._urgent.set()
        self._pending.set()

    def _work(self) -> None:
        try:
            while not self._closing or self._queue:
                self._idle = True
                if not self._queue:
                    self._pending.wait(STOP_REQUESTS if self._listeners else BEAT)
                self._idle = False
                self._pending.clear()
                if self._queue:
                    self._urgent.wait(LINGER)
                self._urgent.clear()
                self._commit()
                self._beat()
                self._pass_on_stop_requests()
        except Exception as error:  # noqa: BLE001 - waiters must be notified of any error
            self.failure = self.failure or _failed(error)
        finally:
            self._ended = True
            self._dismiss()

    def _dismiss(self) -> None:
        """Notify the waiters that queued up after the last commit: nothing more is written."""
        self.failure = self.failure or _closed()
        while self._queue:
            self._notify(self._next().waiters)

    def _commit(self) -> None:
        batch = self._next()
        if (batch.entries or batch.changes) and self.failure is None:
            began = self._committing_since = time.monotonic()
            try:
                self._write(self._without_lost(batch))
            except GoalwrightError as error:
                self.failure = error
            except Exception as error:  # noqa: BLE001 - as above
                self.failure = _failed(error)
            self._committing_since, self._last_commit = None, time.monotonic() - began
        self._notify(batch.waiters)

    def _next(self) -> Commit:
        """Return the content of the next commit: all queued items, up to a full cohort of waiters."""
        batch = Commit([], [], [])
        take, add = self._queue.popleft, batch.entries.append
        for _ in range(len(self._queue)):  # other threads may keep adding items
            item = take()
            if isinstance(item, LogEntry):
                add(item)
            elif isinstance(item, LeaseChange):
                batch.changes.append(item)
            else:
                batch.waiters.append(item)
                if len(batch.waiters) == COHORT:
                    self._hurry()  # for the waiters behind them
                    break
        return batch

    def _write(self, batch: Commit) -> None:
        taken = [change.run_id for change in batch.changes if change.taken]
        released = [change.run_id for change in batch.changes if not change.taken]
        rows = rows_of(batch.entries)
        summaries = _changed_summaries(dict(zip(rows.run_ids, batch.entries, strict=True)))
        while rows or summaries or taken or released:
            held = sorted(self.leases.intersection(rows.run_ids))
            try:
                self.store.append(rows, summaries, Handover(self.holder, taken, released, held))
                break
            except LeaseLost as error:
                if not error.run_ids:
                    raise
                self._lose(error)
                rows = rows.without(error.run_ids)
                summaries = {run_id: summary for run_id, summary in summaries.items() if run_id not in error.run_ids}
                taken, released = (
                    [run_id for run_id in runs if run_id not in error.run_ids] for runs in (taken, released)
                )
        self.leases.update(taken)
        self.leases.difference_update(released)
        if released and self._on_release is not None:
            self._on_release(released)

    def _without_lost(self, batch: Commit) -> Commit:
        if not self.lost:
            return batch
        entries = [entry for entry in batch.entries if entry.log.run_id not in self.lost]
        return Commit(entries, [change for change in batch.changes if change.run_id not in self.lost], batch.waiters)

    def _lose(self, error: LeaseLost) -> None:
        self.leases.difference_update(error.run_ids)
        self.lost.update(dict.fromkeys(error.run_ids, error))

    def _notify(self, waiters: list[Waiter]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
        for future, run_id in waiters:
            failure = self.failure or (self.lost.get(run_id) if self.lost else None)
            by_loop.setdefault(future.get_loop(), []).append((future, failure))
        for loop, outcomes in by_loop.items():
            with suppress(RuntimeError):  # the loop is closed, and so are its waiters
                loop.call_soon_threadsafe(_resolve, outcomes)

    def _beat(self) -> None:
        if self.leases and self.failure is None and time.monotonic() - self._last_beat >= BEAT:
            self._last_beat = time.monotonic()
            try:
                self.store.renew(list(self.leases), self.holder)
            except LeaseLost as error:
                self._lose(error)
            except GoalwrightError as error:
                self.failure = error

    def _pass_on_stop_requests(self) -> None:
        if not self._listeners or time.monotonic() - self._last_look < STOP_REQUESTS:
            return
        self._last_look = time.monotonic()
        with suppress(GoalwrightError):  # the next write reports the failure
            for run_id, request in self.store.stop_requests().items():
                if run_id in self.leases and (listener := self._listeners.get(run_id)) is not None:
                    listener(request)


def _changed_summaries(last: Mapping[str, LogEntry]) -> dict[str, RunSummary]:
    """Return the summaries that changed since the last write, by run, as of each run's last entry."""
    changed = {run_id: entry for run_id, entry in last.items() if not entry.is_written()}
    for entry in changed.values():
        entry.log.written = (entry.summary, entry.done)
    return {run_id: entry.log.captured(entry) for run_id, entry in changed.items()}


def _failed(error: Exception) -> StoreFailed:
    return StoreFailed(f"the journal failed: {type(error).__name__}: {error}", hint=_SAFE)


def _closed() -> StoreFailed:
    return StoreFailed("the journal is closed", hint=_SAFE)


def _resolve(outcomes: list[Outcome]) -> None:
    for future, failure in outcomes:
        if future.done():
            continue
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
