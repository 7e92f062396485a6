"""Use recorded runs as test fixtures: a pytest plugin for projects built on goalwright.

Record a run and export it:

    goalwright run "Write the report" && goalwright trace export last -o tests/runs/report.jsonl

Enable the plugin in a conftest.py with `pytest_plugins = ["goalwright.testing"]`, and write a test:

    def test_the_report_is_written(goalwright_recorded):
        recorded = goalwright_recorded("tests/runs/report.jsonl", workspace=".")
        result = asyncio.run(recorded.run(recorded.goal))
        assert result.answer.startswith("# Report")

The goal runs as usual, but every reply of a model, every result of a tool and every answer of a person comes from the
recording: no model, no key, no network. If a change to skills, prompts or code leads to a request that was not
recorded, the test fails and shows how that request differs from the nearest recorded one. If the change is intended,
record and export again.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.callbacks import Callbacks
from goalwright.runs.run_id import new_run_id
from goalwright.runs.runtime import Goalwright, RehearsedRun
from goalwright.runs.stop import Stop
from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.workspace.workspace import Workspace
from goalwright_executor.history.difference import of_messages
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.journal import trace_file
from goalwright_executor.results.memo import Memo
from goalwright_executor.stores.urls import url_of
from goalwright_planner.approvals import Answer
from goalwright_planner.errors import Halted, ModelError
from goalwright_skills.builtin import toolset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright.runs.goal import Goal
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import Row
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply, Request

__all__ = ["Recorded", "Unrecorded", "goalwright_recorded"]


class Unrecorded(Halted):
    """A request has no recorded reply; the message says how it differs from the nearest recorded request."""

    code = "UNRECORDED"


@dataclass(slots=True)
class Recorded:
    """A runtime that takes every model reply and tool result from recorded runs.

    Open one with `Recorded.of`, or in a test with the fixture `goalwright_recorded`. `journal` is where new runs are
    written; `unrecorded` collects a message for each request that had no recorded reply.
    """

    histories: list[RunHistory]
    paths: Paths
    memo: Memo
    journal: Path
    unrecorded: list[str] = field(default_factory=list)
    _runs: list[list[Row]] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, *files: Path | str, workspace: Path | str = ".", journal: Path | None = None) -> Recorded:
        """Open the runs in some exported files.

        `workspace` is where skills are looked for. New runs are written to `journal`, by default a temporary file,
        so the workspace's own journal stays as it is. Raises ValueError if the files contain no run.
        """
        paths = Paths.of(Path(workspace), os.environ)
        runs = []
        for file in files:
            rows = list(trace_file.read(Path(file)))
            run_ids = dict.fromkeys(row.run_id for row in rows)
            runs += [[row for row in rows if row.run_id == run_id] for run_id in run_ids]
        if not runs:
            raise ValueError("no recorded run given; export one with `goalwright trace export RUN -o FILE`")
        captures = [records.capture(paths, rows[0].run_id) for rows in runs]
        histories = [RunHistory.of(rows, capture) for rows, capture in zip(runs, captures, strict=True)]
        target = journal or Path(tempfile.mkdtemp(prefix="goalwright-")) / "journal.sqlite"
        return cls(histories, paths, Memo(_ignore, captures[-1]), target, _runs=runs)

    @property
    def goal(self) -> Goal:
        """The goal of the first recorded run, with its skills, files and plan, ready to be run again."""
        return records.goal_of(self.histories[0])

    @property
    def name(self) -> str:
        """The name of the model of the first recorded run."""
        return self.settings.model or "recorded"

    @property
    def settings(self) -> Settings:
        """The settings of the first recorded run, except for the journal."""
        started = self.histories[0].started
        recorded = started.settings if started is not None else {}
        return records.settings_of(recorded, Settings(journal=url_of(self.journal)), {})

    async def run(self, goal: Goal | str, *, record: Record | None = None) -> Result:
        """Run a goal with the recorded replies and return its result.

        Usually the goal is `recorded.goal`; another one works if the recording has every reply it needs. `record`
        receives the events of the run. Raises Unrecorded at the first request without a recorded reply.
        """
        __tracebackhide__ = True  # pytest then points at the test
        try:
            return await self._run(goal, record)
        except Unrecorded as error:
            # A new exception: the traceback of this one has every frame between here and the model.
            raise Unrecorded(error.message, hint=error.hint) from None

    async def _run(self, goal: Goal | str, record: Record | None) -> Result:
        async with Goalwright(
            self.paths.workspace, self.settings, open_model=lambda name: _Model(name, self)
        ) as goalwright:
            run_id = new_run_id()
            capture = records.capture(self.paths, run_id)  # which knows the files of this run
            self.memo = Memo(_ignore, capture)
            self.histories = [RunHistory.of(rows, capture) for rows in self._runs]
            run = goalwright.new_run(
                goal, Callbacks(record, self._answer), rehearsed=self._rehearsed(goalwright.settings), run_id=run_id
            )
            return await run.run(Stop())

    def _rehearsed(self, settings: Settings) -> RehearsedRun:
        """Return the date, the tools and the tool results of the recorded runs."""
        first = self.histories[0]
        return RehearsedRun(
            first.started.date if first.started is not None else "",
            Workspace(self.paths, settings, replayed=True, tools=first.functions),
            toolset.recorded(first.started.settings) if first.started is not None else None,
            # A tool's result is part of the next prompt, including how long the call took.
            {key: result for history in self.histories for key, result in history.finished.envelopes.items()},
        )

    def reply(self, request: Request, name: str) -> Reply:
        """Return the recorded reply to a request; raises Unrecorded if there is none, ModelError if the call failed.

        A request repeated more often than it was recorded gets the last recorded reply again.
        """
        key = self.memo.request_hash(request, name)
        self._asked[key] += 1
        for history in self.histories:
            for number in range(self._asked[key], 0, -1):
                if (reply := history.finished.replies.get(f"{key}#{number}")) is not None:
                    return reply
                if (failed := history.calls.failed.get(f"{key}#{number}")) is not None:
                    raise ModelError(failed.error)
        raise self._missing(request)

    async def _answer(self, request: ApprovalRequest) -> Answer | None:
        """Return the recorded answer to a request; None if there was none."""
        for history in self.histories:
            if (given := history.ledger.approvals.answers.get(request.id)) is not None:
                return Answer(given.decision, given.note, given.arguments, given.text, given.by)
        return None

    def _missing(self, request: Request) -> Unrecorded:
        source = f"task {request.task!r}" if request.task else f"the {request.role}"
        calls = [call for history in self.histories for call in history.calls.started]
        near = [call for call in calls if (call.role, call.task) == (request.role, request.task)]
        message = f"no reply is recorded for a request of {source}"
        if near:
            message += f"; the nearest recorded request differs: {of_messages(near[0], request, self.memo.capture)}"
        else:
            message += ", and none of its other requests is recorded either"
        self.unrecorded.append(message)
        return Unrecorded(message, hint="record the run again, or undo the change that led to another prompt")


@dataclass(frozen=True, slots=True)
class _Model:
    name: str
    recorded: Recorded

    async def complete(self, request: Request) -> Reply:
        return self.recorded.reply(request, self.name)


_REPORTED = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Note that a test failed because of a missing reply, so that its fixture does not report it again."""
    if call.excinfo is not None and call.excinfo.errisinstance(Unrecorded):
        item.stash[_REPORTED] = True


@pytest.fixture
def goalwright_recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Recorded]]:
    """Opens recorded runs: `goalwright_recorded(*files, workspace=".")` returns a `Recorded`.

    The test fails if any request had no recorded reply, even if the code under test caught the exception.
    """
    opened: list[Recorded] = []

    def open_runs(*files: Path | str, workspace: Path | str = ".") -> Recorded:
        journal = tmp_path / f"goalwright-{len(opened)}.sqlite"
        opened.append(Recorded.of(*files, workspace=workspace, journal=journal))
        return opened[-1]

    yield open_runs
    missing = [message for recorded in opened for message in recorded.unrecorded]
    if missing and not request.node.stash.get(_REPORTED, False):
        pytest.fail("; ".join(missing), pytrace=False)


def _ignore(event: Any) -> None:
    """Drop the event: each run writes its own to its journal."""
