"""The one writer of a process: rows pile up while a commit is under way, and the next commit takes them all."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from executor.journal.log import row_of
from executor.stores.errors import StoreFailed
from executor.stores.lease import BEAT, Handover, myself
from skills.errors import WeftError

if TYPE_CHECKING:
    from executor.journal.log import Entry
    from executor.stores.row import RunSummary
    from executor.stores.store import Store

# How long rows that nobody waits for may wait for others, in seconds.
LINGER = 0.02
# Those who wait whom one commit serves at most. While the disk has it, those of the commit before go on; one commit for
# all would make the disk wait for them, and them for the disk.
COHORT = 100

Waiter = asyncio.Future[None]


class Change(NamedTuple):
    """A run that changes hands: it is taken, or let go."""

    run_id: str
    taken: bool


class Writer:
    """A thread that commits what it is given, in order; `settle` returns once it is on disk."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.holder = myself()
        self.held: set[str] = set()
        self.failure: WeftError | None = None
        # In one line: who waits, waits for what was put before, and a run's entries come before it changes hands.
        self._queue: deque[Entry | Change | Waiter] = deque()
        self._something = threading.Event()
        self._urgent = threading.Event()
        self._closing = False
        self._ended = False
        self._beaten = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Hand over an entry; it is written soon."""
        self._queue.append(entry)
        if not self._something.is_set():
            self._something.set()

    def settle(self) -> Waiter:
        """Wait until everything handed over so far is on disk; raises where it cannot be."""
        done: Waiter = asyncio.get_running_loop().create_future()
        self._queue.append(done)
        if self._ended:  # looked at only now: whoever is in line sooner is told by the writer, at its very end
            _resolve([done], self.failure or _closed())
        elif not self._urgent.is_set():
            self._hurry()
        return done

    def take(self, run_id: str) -> None:
        """Take a run whose first entry was put before, and keep saying so; it is taken with the next commit."""
        self._queue.append(Change(run_id, taken=True))
        self._something.set()

    def claim(self, run_id: str) -> None:
        """Take a run that was there before, and keep saying so; raises where another has it."""
        self.store.claim(run_id, self.holder)
        self.held.add(run_id)

    def release(self, run_id: str) -> None:
        """Let a run go, with the next commit."""
        self._queue.append(Change(run_id, taken=False))
        self._something.set()

    def close(self) -> None:
        """Write what is left and end; runs that are still held, such as after a failure, are let go if that can be."""
        self._closing = True
        self._hurry()
        self._thread.join()
        if self.held:
            with suppress(WeftError):
                self.store.append([], {}, Handover(self.holder, released=sorted(self.held)))
            self.held.clear()

    def _hurry(self) -> None:
        self._urgent.set()
        self._something.set()

    def _work(self) -> None:
        try:
            while not self._closing or self._queue:
                self._something.wait(BEAT)
                self._something.clear()
                if self._queue:
                    self._urgent.wait(LINGER)
                self._urgent.clear()
                self._commit()
                self._beat()
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must hear of it
            self.failure = self.failure or _failed(error)
        finally:
            self._ended = True
            self._dismiss()

    def _dismiss(self) -> None:
        """Tell those who came when nothing is written any more."""
        self.failure = self.failure or _closed()
        while self._queue:
            self._wake(self._next()[2])

    def _commit(self) -> None:
        batch, changes, waiters = self._next()
        if (batch or changes) and self.failure is None:
            taken = [change.run_id for change in changes if change.taken]
            handover = Handover(self.holder, taken, [change.run_id for change in changes if not change.taken])
            try:
                self.store.append([row_of(entry) for entry in batch], self._lines(batch), handover)
                self._hand_over(handover)
            except WeftError as error:
                self.failure = error
            except Exception as error:  # noqa: BLE001 - likewise
                self.failure = _failed(error)
        self._wake(waiters)

    def _next(self) -> tuple[list[Entry], list[Change], list[Waiter]]:
        """What the next commit takes: all there is now, or as far as a cohort of those who wait."""
        batch: list[Entry] = []
        changes: list[Change] = []
        waiters: list[Waiter] = []
        queue = self._queue
        for _ in range(len(queue)):  # others may go on adding to it meanwhile
            item = queue.popleft()
            if isinstance(item, Change):
                changes.append(item)
            elif isinstance(item, tuple):
                batch.append(item)
            else:
                waiters.append(item)
                if len(waiters) == COHORT:
                    self._hurry()  # for those behind them
                    break
        return batch, changes, waiters

    def _hand_over(self, handover: Handover) -> None:
        self.held.update(handover.taken)
        self.held.difference_update(handover.released)

    def _lines(self, batch: list[Entry]) -> dict[str, RunSummary]:
        """The lines of those runs whose line changed since it was last written."""
        changed = {log.run_id: entry for entry in batch if (log := entry[0]).written is not entry[4]}
        for log, _, _, _, summary in changed.values():
            log.written = summary
        return {run_id: log.line(summary) for run_id, (log, _, _, _, summary) in changed.items()}

    def _wake(self, waiters: list[Waiter]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[Waiter]] = {}
        for waiter in waiters:
            by_loop.setdefault(waiter.get_loop(), []).append(waiter)
        for loop, futures in by_loop.items():
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(_resolve, futures, self.failure)

    def _beat(self) -> None:
        if self.held and self.failure is None and time.monotonic() - self._beaten >= BEAT:
            self._beaten = time.monotonic()
            try:
                self.store.renew(list(self.held), self.holder)
            except WeftError as error:
                self.failure = error


def _failed(error: Exception) -> StoreFailed:
    what = f"the journal failed: {type(error).__name__}: {error}"
    return StoreFailed(what, hint="what was written before is safe: `weft resume` goes on from there")


def _closed() -> StoreFailed:
    return StoreFailed("the journal is closed", hint="what was written before is safe: `weft resume` goes on")


def _resolve(futures: list[asyncio.Future[None]], failure: WeftError | None) -> None:
    for future in futures:
        if future.done():
            continue
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
