"""The index of runs: what it has of each, and when it is filled.

A run is indexed by the process that ran it once it has ended, in a thread of its own, so that nobody who records events
waits for it. What a killed process left behind, and what was recorded before there was an index, is caught up with
later.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.run_texts import LONG, SHORT, titles
from goalwright_executor.stores import words
from goalwright_executor.stores.row import RunIndex
from goalwright_planner.events import decode
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store

# What is read of a run: no prompts and replies, which are most of a record.
_TYPES = (
    "run_started", "run_resumed", "skills_selected", "plan_made", "plan_changed", "task_started", "task_reused",
    "task_finished", "tool_called", "run_finished",
)  # fmt: skip
_CALLS = ("call_finished", "call_broken")
# How many runs are written together: others wait for it to end.
_TOGETHER = 20
_CATCHING_UP = 100
# How long ended runs wait for others to be indexed with, and how long the end of a process waits for them, in seconds.
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
        """Finish what can be finished soon; the rest is caught up with later."""
        self._closing.set()
        if (thread := self._thread) is not None:
            thread.join(_CLOSING)

    def _work(self) -> None:
        while True:
            self._closing.wait(_LINGER)
            with self._lock:
                ended, self._ended = self._ended[:_TOGETHER], self._ended[_TOGETHER:]
                if not ended:
                    self._thread = None
                    return
            with suppress(GoalwrightError):  # it is not in the index then, and caught up with later
                _index(self._store, self._store.unindexed(len(ended), ended))


def catch_up(store: Store, seconds: float) -> bool:
    """Index runs that are not in it yet, newest first, until `seconds` have passed; whether all are now."""
    until = time.monotonic() + seconds
    tried: set[str] = set()
    stuck = 0  # how many change faster than they are read
    while True:
        found = store.unindexed(_CATCHING_UP + stuck)
        some = [(run, last) for run, last in found if run.run_id not in tried]
        stuck = len(found) - len(some)
        if not some:
            return not stuck
        _index(store, some)
        tried.update(run.run_id for run, _ in some)
        if time.monotonic() > until:
            return False


def _index(store: Store, runs: Sequence[tuple[RunSummary, int]]) -> None:
    if runs:
        store.index([_read(store, run, last) for run, last in runs])


def _read(store: Store, run: RunSummary, last: int) -> RunIndex:
    """What the index has of a run; of one that is damaged, what its line in a list has."""
    try:
        return entry(store, run, last)
    except GoalwrightError as error:
        if not isinstance(error, InputError):
            raise  # the journal cannot be read
    except Exception:  # noqa: BLE001, S110 - an imported record may have any events in any order
        pass
    said = words.joined([run.goal[:LONG], *run.tags, run.note[:LONG], *run.skills])
    return RunIndex(run.run_id, last, said, model=run.model, code=run.code)


def entry(store: Store, run: RunSummary, last: int) -> RunIndex:
    """What the index has of a run, whose last event has the number `last`."""
    ledger, read = Ledger(), list[str]()
    types = _TYPES if run.tokens is not None else (*_TYPES, *_CALLS)
    for row in store.rows(run.run_id, types=types):
        event = decode(row.type, row.body)
        if event is not None:
            ledger.note(event)
            read.extend(titles(event))
    result = ledger.result()
    return RunIndex(
        run.run_id,
        last,
        words.joined([*_said(run, result), *dict.fromkeys(read)]),
        skills_used=result.skills_used,
        model=result.model,
        tokens=result.usage.tokens if run.tokens is None else None,
        code=result.code,
    )


def _said(run: RunSummary, result: Result) -> Iterator[str]:
    """The texts that a run is found by, the most telling first."""
    yield from (run.goal[:LONG], *run.tags, run.note[:LONG], (result.answer or "")[:LONG])
    yield from ((result.error or "")[:SHORT], (result.question or "")[:SHORT], *result.skills, *result.skills_used)
    yield from (f"{task.name or ''} {(task.error or '')[:SHORT]}" for task in result.tasks)
