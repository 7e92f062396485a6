"""For tests of work built on weft: a recorded run is a fixture.

Put `pytest_plugins = ["weft.testing"]` into a conftest.py. Then

    def test_the_report_is_written(weft_recorded):
        recorded = weft_recorded("tests/runs/report.jsonl", workspace=".")
        result = asyncio.run(recorded.run(recorded.goal))
        assert result.answer.startswith("# Report")

runs the goal with the replies on record (`weft trace export RUN -o FILE` writes such a file), without a model or a
network. A request that is not on record fails the test and says where it differs from the nearest one that is.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from executor.history.difference import of_messages
from executor.history.run_history import RunHistory
from executor.journal import trace_file
from executor.stores.urls import url_of
from executor.tasks.memo import Memo
from planner.errors import Halted, ModelError
from weft.runs import records
from weft.runs.runtime import Weft
from weft.runs.stop import Stop
from weft.settings.paths import Paths
from weft.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from executor.history.result import Result
    from planner.events import Record
    from planner.model import Reply, Request
    from weft.runs.goal import Goal

__all__ = ["Recorded", "Unrecorded", "weft_recorded"]


class Unrecorded(Halted):
    """A request has no reply on record."""

    code = "UNRECORDED"


@dataclass(slots=True)
class Recorded:
    """A runtime that answers from recorded runs. `goal` is the first run's; `unrecorded` are requests not answered."""

    pasts: list[RunHistory]
    paths: Paths
    memo: Memo
    journal: Path
    unrecorded: list[str] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, *files: Path | str, workspace: Path | str = ".", journal: Path | None = None) -> Recorded:
        """The runs in some files; what is run with them is written to another journal than the workspace's."""
        paths = Paths.of(Path(workspace), os.environ)
        pasts, capture = [], None
        for file in files:
            rows = list(trace_file.read(Path(file)))
            for run_id in dict.fromkeys(row.run_id for row in rows):
                capture = records.capture(paths, run_id)
                pasts.append(RunHistory.of((row for row in rows if row.run_id == run_id), capture))
        if capture is None:
            raise ValueError("no recorded run was given; export one with weft trace export")
        target = journal or Path(tempfile.mkdtemp(prefix="weft-")) / "journal.sqlite"
        return cls(pasts, paths, Memo(_unheard, capture), target)

    @property
    def goal(self) -> Goal:
        """The goal of the first recorded run, as it was given."""
        return records.goal_of(self.pasts[0])

    @property
    def name(self) -> str:
        """The name of the recorded model."""
        return self.settings.model or "recorded"

    @property
    def settings(self) -> Settings:
        """The settings of the first recorded run, with a journal of its own."""
        begun = self.pasts[0].started
        recorded = begun.settings if begun is not None else {}
        return records.settings_of(recorded, Settings(journal=url_of(self.journal)), {})

    async def run(self, goal: Goal | str, *, record: Record | None = None) -> Result:
        """Reach a goal with the replies on record; raises Unrecorded where one is missing."""
        __tracebackhide__ = True  # pytest then points at the test
        try:
            return await self._run(goal, record)
        except Unrecorded as error:
            # Anew, for a report would else show every frame between here and the model.
            raise Unrecorded(error.message, hint=error.hint) from None

    async def _run(self, goal: Goal | str, record: Record | None) -> Result:
        async with Weft(self.paths.workspace, self.settings, open_model=lambda name: _Model(name, self)) as weft:
            run = weft.new_run(goal, record, date=self._date)
            for history in self.pasts:  # a tool's answer is part of the next prompt, and tells how long it took
                run.history.finished.envelopes.update(history.finished.envelopes)
            return await run.run(Stop())

    def reply(self, request: Request, name: str) -> Reply:
        """The reply on record to a request."""
        key = self.memo.request_hash(request, name)
        self._asked[key] += 1
        for history in self.pasts:
            # A request that is made more often than it was recorded gets the last reply again.
            for number in range(self._asked[key], 0, -1):
                if (reply := history.finished.replies.get(f"{key}#{number}")) is not None:
                    return reply
                if (failed := history.failed.get(f"{key}#{number}")) is not None:
                    raise ModelError(failed.error)
        raise self._missing(request)

    @property
    def _date(self) -> str:
        begun = self.pasts[0].started
        return begun.date if begun is not None else ""

    def _missing(self, request: Request) -> Unrecorded:
        whose = f"task {request.task!r}" if request.task else f"the {request.role}"
        calls = [call for history in self.pasts for call in history.calls]
        near = [call for call in calls if (call.role, call.task) == (request.role, request.task)]
        how = f"the nearest on record differs: {of_messages(near[0], request, self.memo.capture)}" if near else ""
        what = f"a request of {whose} is not on record" + (f"; {how}" if how else "; nothing of it is")
        self.unrecorded.append(what)
        return Unrecorded(what, hint="record the run again, or mend what changed the prompt")


@dataclass(frozen=True, slots=True)
class _Model:
    name: str
    recorded: Recorded

    async def complete(self, request: Request) -> Reply:
        return self.recorded.reply(request, self.name)


_TOLD = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Remember a test that fails because of a missing reply: its fixture need not say so again."""
    if call.excinfo is not None and call.excinfo.errisinstance(Unrecorded):
        item.stash[_TOLD] = True


@pytest.fixture
def weft_recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Recorded]]:
    """Opens recorded runs; the test fails where a request was not on record."""
    opened: list[Recorded] = []

    def open_runs(*files: Path | str, workspace: Path | str = ".") -> Recorded:
        journal = tmp_path / f"weft-{len(opened)}.sqlite"
        opened.append(Recorded.of(*files, workspace=workspace, journal=journal))
        return opened[-1]

    yield open_runs
    missing = [what for one in opened for what in one.unrecorded]
    if missing and not request.node.stash.get(_TOLD, False):
        pytest.fail("requests that are not on record: " + "; ".join(missing), pytrace=False)


def _unheard(event: Any) -> None:
    """Nothing is recorded here: the run has its own journal."""
