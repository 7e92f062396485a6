"""Reads a reply while it is being written: the tasks that may start early, and the text of a direct answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.task_problems import row_problems
from goalwright_planner.plan.validate import graph_problems
from goalwright_planner.reading.loose_json import unique_keys
from goalwright_planner.reading.normal_form import may_change_tasks, normal_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.model import OnText
    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan

_ANSWER = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*(?:"tasks"\s*:\s*\[\s*\]\s*,\s*)?"answer"\s*:\s*"')
# Longer than any text before an answer: a reply that has not matched by then is a plan.
_ANSWER_START = 200
# Complete pieces of a JSON string: characters, escapes, and both halves of a surrogate pair.
_PIECE = re.compile(
    r'[^"\\\x00-\x1f]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u]'
)


class EarlyStart(Protocol):
    """Starts tasks of a plan while it is being written."""

    def hear(self, text: str) -> None:
        """Take the next piece of the plan; an empty piece starts the plan again."""

    def could_begin(self, text: str) -> tuple[str, ...]:
        """The ids of the tasks of a complete answer that could have started early."""

    async def settle(self, plan: Plan) -> None:
        """Keep the started tasks that are in the accepted plan, and stop the others."""


def listener(on_plan: OnText | None, on_answer: OnText | None) -> OnText | None:
    """Return the callback for a reply's text: for its tasks, and for a direct answer."""
    if on_answer is None:
        return on_plan
    stream = AnswerStream(on_answer)

    def hear(text: str) -> None:
        stream.hear(text)
        if on_plan is not None:
            on_plan(text)

    return hear


@dataclass(slots=True)
class PartialPlan:
    """Splits a plan's text into its tasks, piece by piece, in time linear in the text.

    Reads strict JSON that starts with the plan itself. Anything else stops it; then the complete text decides.
    """

    text: str = ""
    stopped: bool = False
    keys: list[str] = field(default_factory=list)  # of the plan, so far
    _offset: int = 0
    _depth: int = 0
    _in_string: bool = False
    _escaped: bool = False
    _in_tasks: bool = False
    _task_start: int = -1
    _string_start: int = 0
    _key: str = ""

    def feed(self, piece: str) -> list[Any]:
        """Return the tasks that this piece completes."""
        self.text += piece
        rows: list[Any] = []
        while self._offset < len(self.text) and not self.stopped:
            char = self.text[self._offset]
            self._offset += 1
            if self._in_string:
                self._read_string(char)
            elif self._in_tasks and self._depth == 2 and char not in "{]," and not char.isspace():
                self.stopped = True  # not a task
            elif char == '"' and self._depth:
                self._in_string, self._string_start = True, self._offset
            elif char == ":" and self._depth == 1:
                self.keys.append(self._key)
            elif char in "{[":
                self._open(char)
            elif char in "}]":
                self._close(rows)
            elif self._depth == 0 and not char.isspace():
                self.stopped = True
        return rows

    def _read_string(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._in_string = False
            if self._depth == 1:
                self._key = self.text[self._string_start : self._offset - 1]

    def _open(self, char: str) -> None:
        self._depth += 1
        if self._depth == 1:
            self.stopped = char == "["
        elif char == "[" and self._depth == 2 and self._key == "tasks":
            self._in_tasks = True
        elif self._depth == 3 and self._in_tasks:
            self._task_start, self.stopped = self._offset - 1, char == "["

    def _close(self, rows: list[Any]) -> None:
        self._depth -= 1
        if self._in_tasks and self._depth == 2:
            text = self.text[self._task_start : self._offset]
            try:
                rows.append(json.loads(text, strict=False, object_pairs_hook=unique_keys))
            except (NotJson, ValueError, RecursionError):
                self.stopped = True
        elif self._depth < (2 if self._in_tasks else 1) or self._depth < 0:
            self.stopped = True  # no tasks can follow


@dataclass(slots=True)
class EarlyReader:
    """Reads a plan as it is written, and returns each valid task whose dependencies have been returned too.

    `may_begin` says whether a valid task does no harm if the plan is refused. A task waits for the complete plan if it
    has an unknown key, which may name later tasks, or no `depends_on`, which a key of the plan may replace. If such a
    key precedes the plan's tasks, all tasks wait. The result depends on the text only, not on how it is split.
    """

    known: Known
    may_begin: Callable[[Task], bool]
    tasks: dict[str, Task] = field(default_factory=dict)
    _text: PartialPlan = field(default_factory=PartialPlan)
    _valid: list[dict[str, Any]] = field(default_factory=list)
    _held: list[dict[str, Any]] = field(default_factory=list)
    _unclear: set[str] = field(default_factory=set)
    _stopped: bool = False

    def feed(self, piece: str) -> list[Task]:
        """Return the tasks that may start now."""
        ready: list[Task] = []
        for row in self._text.feed(piece):
            if not self._stopped:
                self._take(row, ready)
        return ready

    def stop(self) -> None:
        """Return no more tasks."""
        self._stopped = self._text.stopped = True

    def _take(self, row: Any, ready: list[Task]) -> None:
        """Take a complete row; a fault of its own stops the reader, since the plan will be refused."""
        if any(map(may_change_tasks, self._text.keys)):
            self.stop()
            return
        form = normal_form({"tasks": [row]})
        rows = form.document.get("tasks") if isinstance(form.document, dict) else None
        if form.faults or not rows or not isinstance(rows[0], dict):
            self.stop()
            return
        taken = len(self._valid) + len(self._held)
        if taken >= self.known.max_tasks or next(row_problems(taken + 1, rows[0], self.known), None):
            self.stop()
            return
        if form.dropped or not isinstance(rows[0].get("depends_on"), list):
            self._unclear.add(rows[0]["id"])
        self._held.append(rows[0])
        while self._release(ready):
            pass

    def _release(self, ready: list[Task]) -> bool:
        """Release one of the rows that waited for other rows; return whether there was one."""
        for row in self._held:
            if next(graph_problems([*self._valid, row], self.known), None) is not None:
                continue
            self._held.remove(row)
            self._valid.append(row)
            task = Task.from_dict(row)
            if (
                task.id not in self._unclear
                and self.may_begin(task)
                and all(name in self.tasks for name in task.depends_on)
            ):
                self.tasks[task.id] = task
                ready.append(task)
            return True
        return False


@dataclass(slots=True)
class AnswerStream:
    """Passes on the text of a direct answer, `{"answer": "…"}`, as it is written; an empty piece starts it again."""

    on_text: OnText
    _text: str = ""
    _offset: int = 0
    _started: bool = False
    _over: bool = False

    def hear(self, text: str) -> None:
        """Take the next piece of the reply."""
        if not text:
            if self._started:
                self.on_text("")
            self._text, self._offset, self._started, self._over = "", 0, False, False
            return
        if self._over:
            return
        self._text += text
        if self._offset == 0:
            if (start := _ANSWER.match(self._text)) is None:
                self._over = len(self._text) > _ANSWER_START
                return
            self._offset = start.end()
        self._read()

    def _read(self) -> None:
        pieces: list[str] = []
        while (piece := _PIECE.match(self._text, self._offset)) is not None:
            try:
                pieces.append(json.loads(f'"{piece[0]}"'))
            except ValueError:  # an invalid escape: the complete text decides
                self._over = True
                break
            self._offset = piece.end()
        if self._offset < len(self._text) and self._text[self._offset] != "\\":
            self._over = True  # the end of the string, or a character that it cannot contain
        if answer := "".join(pieces):
            self._started = True
            self.on_text(answer)
