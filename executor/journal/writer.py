"""The one writer of a process: rows pile up while a commit is under way, and the next commit takes them all."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from executor.journal.errors import StoreFailed
from executor.journal.lease import BEAT, Handover, myself
from executor.journal.log import row_of
from skills.errors import WeftError

if TYPE_CHECKING:
    from executor.journal.log import Entry
    from executor.journal.row import Summary
    from executor.journal.store import Store

# How long rows that nobody waits for may wait for others, in seconds.
LINGER = 0.02

Waiter = asyncio.Future[None]
Item = TypeVar("Item")


class Writer:
    """A thread that commits what it is given, in order; `settle` returns once it is on disk."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.holder = myself()
        self.held: set[str] = set()
        self.failure: WeftError | None = None
        self._queue: deque[Entry] = deque()
        self._taken: deque[str] = deque()
        self._released: deque[str] = deque()
        self._waiters: deque[Waiter] = deque()
        self._something = threading.Event()
        self._urgent = threading.Event()
        self._closing = False
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
        if not self._thread.is_alive():
            gone = StoreFailed("the journal is closed", hint="what was written before is safe: `weft resume` goes on")
            done.set_exception(self.failure or gone)
            return done
        self._waiters.append(done)
        if not self._urgent.is_set():
            self._urgent.set()
            self._something.set()
        return done

    def take(self, run_id: str) -> None:
        """Take a run whose first entry was put before, and keep saying so; it is taken with the next commit."""
        self._taken.append(run_id)
        self._something.set()

    def claim(self, run_id: str) -> None:
        """Take a run that was there before, and keep saying so; raises where another has it."""
        self.store.claim(run_id, self.holder)
        self.held.add(run_id)

    def release(self, run_id: str) -> None:
        """Let a run go, with the next commit."""
        self._released.append(run_id)
        self._something.set()

    def close(self) -> None:
        """Write what is left and end."""
        self._closing = True
        self._urgent.set()
        self._something.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._closing or self._queue or self._waiters or self._taken or self._released:
            self._something.wait(BEAT)
            self._something.clear()
            if not self._waiters and (self._queue or self._taken or self._released):
                self._urgent.wait(LINGER)
            self._urgent.clear()
            self._commit()
            self._beat()

    def _commit(self) -> None:
        # Waiters first: whatever they wait for was put before they came, so it is in the queue or written. Likewise a
        # run's entries were put before it changes hands.
        waiters = _drained(self._waiters)
        handover = Handover(self.holder, _drained(self._taken), _drained(self._released))
        batch = _drained(self._queue)
        if (batch or handover) and self.failure is None:
            try:
                self.store.append([row_of(entry) for entry in batch], self._lines(batch), handover)
                self._hand_over(handover)
            except WeftError as error:
                self.failure = error
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must hear of it
                self.failure = StoreFailed(
                    f"the journal failed: {type(error).__name__}: {error}",
                    hint="what was written before is safe: `weft resume` goes on from there",
                )
        self._wake(waiters)

    def _hand_over(self, handover: Handover) -> None:
        self.held.update(handover.taken)
        self.held.difference_update(handover.released)

    def _lines(self, batch: list[Entry]) -> dict[str, Summary]:
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
            if not loop.is_closed():
                loop.call_soon_threadsafe(_resolve, futures, self.failure)

    def _beat(self) -> None:
        if self.held and self.failure is None and time.monotonic() - self._beaten >= BEAT:
            self._beaten = time.monotonic()
            try:
                self.store.renew(list(self.held), self.holder)
            except WeftError as error:
                self.failure = error


def _drained(queue: deque[Item]) -> list[Item]:
    """What is in the queue now; others may go on adding to it meanwhile."""
    return [queue.popleft() for _ in range(len(queue))]


def _resolve(futures: list[asyncio.Future[None]], failure: WeftError | None) -> None:
    for future in futures:
        if future.done():
            continue
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
