"""Reads the turns of a conversation from the journal, and prepares the view of the next turn.

Each turn records what it saw, so the next view needs only the last turn, and turns that were unfinished then and have
been continued since.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright.runs.conversations import fitting
from goalwright.runs.stored import records
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.stores.errors import UnknownRun
from goalwright_planner.events import (
    ConversationTurn,
    EarlierTurn,
    RunFinished,
    RunResumed,
    RunStarted,
    TaskFinished,
    TaskReused,
    TurnResult,
    TurnSummarised,
)
from goalwright_planner.events.run import STOPPED_BY_USER
from goalwright_skills.builtin.writing.changes import WorkspaceChanges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright.settings.paths import Paths
    from goalwright_executor.history.result import Result
    from goalwright_executor.stores.row import ConversationSummary, RunSummary
    from goalwright_executor.stores.store import Store

_MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A recorded turn of a conversation; `status` is a run's status, or `running`.

    `stopped_by_user` is set if a person stopped it and nobody has continued it since.
    """

    number: int
    run_id: str
    goal: str
    status: str
    answer: str = ""
    error: str = ""
    stopped_by_user: bool = False


@dataclass(frozen=True, slots=True)
class _ReadTurn:
    """A turn with its own view of earlier turns, and the results and files that later turns get."""

    turn: EarlierTurn
    saw: ConversationTurn | None
    results: list[TurnResult]
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class StoredTurns:
    """Reads conversations from a journal."""

    store: Store
    paths: Paths

    def find(self, name: str) -> ConversationSummary:
        """Return the conversation with this id or unique prefix of one, or `last`; raises UnknownRun."""
        matches: list[ConversationSummary] = []
        for summary in self.store.conversations(1 if name == "last" else None):
            if name in ("last", summary.conversation):
                return summary
            if name and summary.conversation.startswith(name):
                matches.append(summary)
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(summary.conversation for summary in matches[:5])
            raise UnknownRun(f"{name!r} matches several conversations: {names}", hint="give more characters of the id")
        missing = "no conversation" if name == "last" else f"no conversation {name!r}"
        raise UnknownRun(f"there is {missing} in {self.store.url}", hint="start one with `goalwright chat`")

    def newest_first(self, conversation: str, before: str = "") -> Iterator[RunSummary]:
        """Return the runs of a conversation that were not taken back; with `before`, only older runs."""
        return self.store.summaries(conversation=conversation, taken_back=False, before=before)

    def turns(self, conversation: str, most: int | None = None) -> list[StoredTurn]:
        """Return the turns of a conversation in order, or the last `most`."""
        turns: list[StoredTurn] = []
        for summary in self.newest_first(conversation):
            if most is not None and len(turns) == most:
                break
            turns.append(self.turn(summary))
        return turns[::-1]

    def turn(self, summary: RunSummary) -> StoredTurn:
        """Read a run of a conversation as a turn."""
        number, answer, error, stopped = 0, "", "", False
        for row in self.store.rows(summary.run_id, types=("run_started", "run_resumed", "run_finished")):
            match records.event_of(row, self.paths):
                case RunStarted(conversation=ConversationTurn() as place):
                    number = place.number
                case RunFinished() as end:
                    answer, error = end.answer or "", end.error or ""
                    stopped = end.code == STOPPED_BY_USER
                case RunResumed():
                    stopped = False
                case _:
                    pass
        goal = records.local_text(summary.goal, summary.run_id, self.paths)
        return StoredTurn(number, summary.run_id, goal, summary.status, answer, error, stopped)

    def next_turn(self, conversation: str, room: int) -> tuple[ConversationTurn, tuple[Path, ...]]:
        """Return what the next turn sees, within `room` tokens, and the files that it gets."""
        last = next(self.newest_first(conversation), None)
        if last is None:
            return ConversationTurn(conversation, 1), ()
        newest = self._read(last)
        before = newest.saw or ConversationTurn(conversation, 1)
        turns, results, files = [newest.turn], [*newest.results, *before.results], [*newest.files]
        for turn in self._summed_up(before, last.run_id):
            later = self._continued(turn, last.started)
            turns.append(later.turn if later is not None else turn)
            if later is not None:
                results = [*later.results, *(result for result in results if result.turn != turn.number)]
                files += later.files
        results.sort(key=lambda result: -result.turn)
        seen = fitting.seen(conversation, before.number + 1, turns, results, room, before.left_out)
        return seen, tuple(dict.fromkeys(files))[:_MOST_FILES]

    def _continued(self, turn: EarlierTurn, since: str) -> _ReadTurn | None:
        """Read a turn again if a later one saw it unfinished and it has been continued since; else None."""
        if turn.status == "done":
            return None
        try:
            run = self.store.find(turn.run_id)
        except UnknownRun:  # it was deleted: keep the recorded view
            return None
        ends = self.store.rows(run.run_id, types=("run_finished",))
        return self._read(run) if run.status != turn.status or any(end.at > since for end in ends) else None

    def _read(self, run: RunSummary) -> _ReadTurn:
        """Read the current state of a turn."""
        history = RunHistory.of(self.store.rows(run.run_id), records.capture(self.paths, run.run_id))
        begun, result = history.started, history.ledger.result()
        saw = begun.conversation if begun is not None else None
        number = saw.number if saw is not None else 1
        turn = EarlierTurn(number, run.run_id, result.goal, run.status, result.answer or result.error or "")
        return _ReadTurn(turn, saw, _results(number, result), self._files(begun, result))

    def _summed_up(self, before: ConversationTurn, run_id: str) -> Iterator[EarlierTurn]:
        """Yield the turns that a turn saw, with the summaries that it made."""
        rows = self.store.rows(run_id, types=("turn_summarised",))
        events = (records.event_of(row, self.paths) for row in rows)
        made = {event.turn: event.text for event in events if isinstance(event, TurnSummarised)}
        for turn in before.turns:
            yield replace(turn, summary=made[turn.number]) if turn.number in made else turn

    def _files(self, begun: RunStarted | None, result: Result) -> tuple[Path, ...]:
        """Return the existing files that the last turn got, wrote or made, newest first."""
        artifacts = Artifacts.of(self.paths.workspace, result.run_id).folder
        made = [artifacts / artifact.path for artifact in result.artifacts]
        written: list[Path] = []
        with suppress(OSError):
            changes = WorkspaceChanges(self.paths.workspace, artifacts.parent / "changes").every()
            written = [self.paths.workspace / change.made for change in changes if change.state == "applied"]
        given = [Path(path) for path in begun.files] if begun is not None else []
        known = dict.fromkeys([*reversed(written), *made, *given])
        return tuple(path for path in known if path.is_file())[:_MOST_FILES]


def output_of(store: Store, paths: Paths, result: TurnResult) -> str | None:
    """Return the output of a task of an earlier turn; None if it is no longer in the journal."""
    output = None
    for row in store.rows(result.run_id, types=("task_finished", "task_reused"), task=result.task):
        match records.event_of(row, paths):
            case TaskFinished(status="done", output=str(text)) | TaskReused(output=str(text)):
                output = text
            case _:
                pass
    return output


def _results(number: int, result: Result) -> list[TurnResult]:
    """Return the results of a turn that later turns can refer to."""
    titles = {task.id: task.title for task in result.plan.tasks} if result.plan is not None else {}
    return [
        TurnResult(number, result.run_id, task.id, titles.get(task.id) or task.name or "", len(task.output))
        for task in result.tasks
        if task.output and "[" not in task.id and "/" not in task.id
    ]
