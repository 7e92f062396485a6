"""Indexes runs for search and statistics.

The process of a run indexes it after its end, in a background thread, so that recording never waits. `catch_up` indexes
imported runs and those of killed processes.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.snippets import LONG, SHORT, titles
from goalwright_executor.stores import words
from goalwright_executor.stores.row import RunIndex
from goalwright_planner.events import decode
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store

# The indexed events, without prompts and replies, which are most of a record.
_TYPES = (
    "run_started", "run_resumed", "skills_selected", "plan_made", "plan_changed", "task_started", "task_reused",
    "task_finished", "tool_called", "run_finished",
)  # fmt: skip
# Runs per write transaction, which other writers wait for, and per batch when catching up.
_PER_WRITE = 20
_PER_BATCH = 100
# Seconds that ended runs wait for others, and that the end of the process waits for the thread.
_LINGER = 0.3
_CLOSING = 2.0


class Indexer:
    """Indexes the runs of one process as they end."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ended: list[str] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, run_ids: Sequence[str]) -> None:
        """Accept runs that have been released."""
        with self._lock:
            self._ended += run_ids
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="index", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Finish within two seconds; remaining runs are caught up with later."""
        self._closing.set()
        if (thread := self._thread) is not None:
            thread.join(_CLOSING)

    def _work(self) -> None:
        while True:
            self._closing.wait(_LINGER)
            with self._lock:
                ended, self._ended = self._ended[:_PER_WRITE], self._ended[_PER_WRITE:]
                if not ended:
                    self._thread = None
                    return
            with suppress(GoalwrightError):  # it is caught up with later
                _index(self._store, self._store.unindexed(len(ended), ended))


def catch_up(store: Store, seconds: float) -> bool:
    """Index missing runs, newest first, for at most `seconds`; return whether all runs are indexed."""
    until = time.monotonic() + seconds
    tried: set[str] = set()
    stuck = 0  # runs that change faster than they are read
    while True:
        unindexed = store.unindexed(_PER_BATCH + stuck)
        untried = [(run, last) for run, last in unindexed if run.run_id not in tried]
        stuck = len(unindexed) - len(untried)
        if not untried:
            return not stuck
        _index(store, untried)
        tried.update(run.run_id for run, _ in untried)
        if time.monotonic() > until:
            return False


def _index(store: Store, runs: Sequence[tuple[RunSummary, int]]) -> None:
    if runs:
        store.index([_read(store, run, last) for run, last in runs])


def _read(store: Store, run: RunSummary, last: int) -> RunIndex:
    """Return the index entry of a run; for a malformed record, only from its summary."""
    try:
        return entry(store, run, last)
    except GoalwrightError as error:
        if not isinstance(error, InputError):
            raise  # the journal cannot be read
    except Exception:  # noqa: BLE001, S110 - an imported record may have any events in any order
        pass
    text = words.joined([run.goal[:LONG], *run.tags, run.note[:LONG], *run.skills])
    return RunIndex(run.run_id, last, text)


def entry(store: Store, run: RunSummary, last: int) -> RunIndex:
    """Return the index entry of a run with `last` as the number of its last event."""
    ledger, task_titles = Ledger(), list[str]()
    for row in store.rows(run.run_id, types=_TYPES):
        event = decode(row.type, row.body)
        if event is not None:
            ledger.note(event)
            task_titles.extend(titles(event))
    result = ledger.result()
    text = words.joined([*_texts(run, result), *dict.fromkeys(task_titles)])
    return RunIndex(run.run_id, last, text, result.skills_used)


def _texts(run: RunSummary, result: Result) -> Iterator[str]:
    """The searchable texts of a run, the most important first."""
    yield from (run.goal[:LONG], *run.tags, run.note[:LONG], (result.answer or "")[:LONG])
    yield from ((result.error or "")[:SHORT], (result.question or "")[:SHORT], *result.skills, *result.skills_used)
    yield from (f"{task.name or ''} {(task.error or '')[:SHORT]}" for task in result.tasks)
