"""A conversation: a chain of runs in one journal, each of which sees the goals and answers of earlier ones."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from goalwright.runs.callbacks import Callbacks
from goalwright.runs.conversations import fitting
from goalwright.runs.conversations.stored_turns import StoredTurns
from goalwright.runs.goal import Goal
from goalwright.runs.run import Run
from goalwright.runs.run_id import new_run_id
from goalwright.runs.stop import Stop
from goalwright.runs.stored import records
from goalwright.runs.stored.claim import claim, release
from goalwright.runs.stored.reopening import Reopening
from goalwright_executor.results.artifacts import Artifacts
from goalwright_planner.events import TurnTakenBack
from goalwright_skills.builtin.writing.changes import WorkspaceChanges
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from typing import Self

    from goalwright.runs.callbacks import Review
    from goalwright.runs.conversations.stored_turns import StoredTurn
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stored.requests import Answers
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import ConversationTurn, Record


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A turn that was taken back; `left` are files that were not restored because they have changed since."""

    turn: StoredTurn
    left: tuple[str, ...] = ()


@dataclass(slots=True)
class Conversation:
    """A chain of runs with its own id; nothing is recorded before its first turn."""

    goalwright: Goalwright
    id: str
    _run: Run | None = None

    @classmethod
    def new(cls, goalwright: Goalwright) -> Self:
        """Return a conversation without turns."""
        return cls(goalwright, f"c{new_run_id()}")

    @classmethod
    def open(cls, goalwright: Goalwright, name: str = "last") -> Self:
        """Return the conversation with this id or unique prefix of one, or `last`; raises UnknownRun."""
        return cls(goalwright, StoredTurns(goalwright.journal.store, goalwright.paths).find(name).conversation)

    @property
    def stored(self) -> StoredTurns:
        """The reader of its recorded turns."""
        return StoredTurns(self.goalwright.journal.store, self.goalwright.paths)

    def turns(self, most: int | None = None) -> list[StoredTurn]:
        """Return its turns in order, or the last `most`; turns that were taken back are left out."""
        return self.stored.turns(self.id, most)

    @property
    def last(self) -> StoredTurn | None:
        """Its last turn."""
        return next(iter(self.turns(1)), None)

    async def turn(
        self,
        goal: Goal | str,
        *,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
        run_id: str | None = None,
    ) -> Result:
        """Run a goal as the next turn, as `Goalwright.run` does; it sees the earlier turns."""
        given = await asyncio.to_thread(self.as_next, Goal.of(goal))
        callbacks = Callbacks(record, approve, review)
        return await self._finish(self.goalwright.new_run(given, callbacks, run_id=run_id), stop)

    async def _finish(self, run: Run, stop: Stop | None) -> Result:
        """Run a turn, new or continued, to its end; it takes remarks meanwhile."""
        self._run = run
        try:
            return await run.run(stop or Stop())
        finally:
            self._run = None

    def seen(self) -> ConversationTurn:
        """Return what the running turn sees of earlier ones; if none runs, what the next one will see."""
        running = self._run.goal.conversation if self._run is not None else None
        return running or self.stored.next_turn(self.id, fitting.budget(self.goalwright.settings))[0]

    def as_next(self, goal: Goal) -> Goal:
        """Return the goal with its view of earlier turns, and their files."""
        last = next(self.stored.newest_first(self.id), None)
        if last is not None and last.status == "running":
            raise InputError(
                f"the last turn of conversation {self.id} is still running",
                hint=f"wait for run {last.run_id} to end, or start another conversation",
            )
        seen, files = self.stored.next_turn(self.id, fitting.budget(self.goalwright.settings))
        known = {path.resolve() for path in goal.files}
        more = tuple(path for path in files if path.resolve() not in known)
        seen = msgspec.structs.replace(seen, earlier_files=len(more))
        return replace(goal, conversation=seen, files=(*goal.files, *more))

    def goal_of(self, turn: StoredTurn) -> Goal:
        """Return the original goal of a turn, to run it again: with its plan, recipe, skills, files and answers.

        Raises if it cannot run now, for example because a file is gone.
        """
        recorded = records.goal_of(self.goalwright.history(turn.run_id))
        earlier = recorded.conversation.earlier_files if recorded.conversation is not None else 0
        own = recorded.files[: len(recorded.files) - earlier]
        goal = replace(recorded, files=own, conversation=None)
        self.goalwright.workspace.check(goal.skills)
        return goal

    async def resume(
        self,
        *,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
        answers: Answers = (),
    ) -> Result | None:
        """Continue the last turn if it was interrupted, waits or failed in part; None if it is done or missing."""
        last = await asyncio.to_thread(lambda: self.last)
        if last is None or last.status == "done":
            return None
        callbacks = Callbacks(record, approve, review)
        reopened = await self.goalwright.reopened(last.run_id, Reopening(answers), callbacks)
        return await self._finish(reopened, stop) if isinstance(reopened, Run) else reopened

    def remark(self, text: str) -> bool:
        """Pass a remark to the tasks of the running turn that have not begun; False if there are none."""
        return self._run.remarks.make(text) if self._run is not None else False

    async def take_back(self) -> TakenBack:
        """Take back the last turn and undo its changes of the workspace; later turns do not see it.

        It is completed even if the caller is cancelled, because files and record must agree.
        """
        taking = asyncio.ensure_future(self._take_back())
        cancelled: asyncio.CancelledError | None = None
        while not taking.done():
            try:
                await asyncio.wait({taking})
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None and taking.exception() is None:
            raise cancelled
        return taking.result()

    async def _take_back(self) -> TakenBack:
        last = await asyncio.to_thread(lambda: self.last)
        if last is None:
            raise InputError("there is no turn to take back", hint="give a goal first")
        await claim(self.goalwright.journal, last.run_id)
        try:
            left = await asyncio.to_thread(self._undo, last.run_id)
            await self._record_taken_back(last)
        finally:
            await release(self.goalwright.journal, last.run_id)
        return TakenBack(last, tuple(left))

    def _undo(self, run_id: str) -> list[str]:
        workspace = self.goalwright.paths.workspace
        return WorkspaceChanges(workspace, Artifacts.of(workspace, run_id).folder.parent / "changes").undo()

    async def _record_taken_back(self, turn: StoredTurn) -> None:
        journal, run_id = self.goalwright.journal, turn.run_id
        summary = await asyncio.to_thread(journal.store.find, run_id)
        rows = await asyncio.to_thread(lambda: list(journal.store.rows(run_id)))
        log = journal.add_to(summary, records.capture(self.goalwright.paths, run_id), rows[-1].seq)
        log.record(TurnTakenBack(turn.number))
        await log.settle()
