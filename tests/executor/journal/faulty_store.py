"""A store that fails on demand, and helpers for tests of the writer."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import encoded
from goalwright_executor.stores.lease import BEAT, Handover, Holder, myself
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_planner.events import RunStarted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from goalwright_executor.journal.log import Log
    from goalwright_executor.journal.writer import Writer
    from goalwright_executor.stores.row import EncodedRows, Row, RunSummary

SOON = BEAT / 2
STARTED = RunStarted("r", "goal", "/w", {})


@dataclass
class Commit:
    """The arguments of one call of `append`."""

    rows: list[tuple[str, int]]
    summaries: dict[str, RunSummary]
    taken: list[str]
    released: list[str]


@dataclass
class Faults:
    """The errors that the store raises, and its calls; `before_renew` is called before a renewal."""

    append: Exception | None = None
    renew: Exception | None = None
    before_renew: Callable[[], object] = lambda: None
    commits: list[Commit] = field(default_factory=list)
    renewed: list[list[str]] = field(default_factory=list)


class FaultyStore(SqliteStore):
    """A store that records its calls and fails on demand."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.faults = Faults()

    def append(
        self, rows: Sequence[Row] | EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        change = handover or Handover(myself())
        written = encoded(rows)
        places = list(zip(written.run_ids, written.seqs, strict=True))
        self.faults.commits.append(Commit(places, dict(summaries), list(change.taken), list(change.released)))
        if self.faults.append is not None:
            raise self.faults.append
        super().append(written, summaries, handover)

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        self.faults.renewed.append(list(run_ids))
        self.faults.before_renew()
        if self.faults.renew is not None:
            raise self.faults.renew
        super().renew(run_ids, holder)


async def settled(log: Log) -> None:
    await asyncio.wait_for(asyncio.ensure_future(log.settle()), SOON)


def eventually(holds: Callable[[], object]) -> None:
    """Wait until a condition holds, which must be long before the next heartbeat."""
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


async def begun(writer: Writer, log: Log) -> None:
    """Start the run and take its lease."""
    log.record(STARTED)
    writer.take("r")
    await settled(log)
