"""Reads a reply while it is being written: the tasks that may start early, and the text of a direct answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.validate import graph_problems, row_problems
from goalwright_planner.reading.loose_json import unique_keys
from goalwright_planner.reading.normal_form import may_change_tasks, normal_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.model import OnText
    from goalwright_planner.plan.validate import Known

_START = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*(?:"tasks"\s*:\s*\[\s*\]\s*,\s*)?"answer"\s*:\s*"')
# Longer than what can stand before the answer: a text that has not begun like one by then is a plan.
_LONGEST_START = 200
# What a JSON string may hold, whole: characters, escapes, and both halves of a surrogate pair.
_PIECE = re.compile(
    r'[^"\\\x00-\x1f]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u]'
)


@dataclass(slots=True)
class PartialPlan:
    """Reads a plan's text piece by piece, in time linear in the text.

    Only strict JSON that begins with the plan itself is read: anything else stops it, and the whole text decides.
    """

    text: str = ""
    stopped: bool = False
    _at: int = 0
    _depth: int = 0
    _in_string: bool = False
    _escaped: bool = False
    _in_tasks: bool = False
    _start: int = -1  # of the task that is being read
    keys: list[str] = field(default_factory=list)  # of the plan, so far
    _key: str = ""
    _string: int = 0

    def feed(self, piece: str) -> list[Any]:
        """The tasks that this piece completes, as they stand in the text."""
        self.text += piece
        rows: list[Any] = []
        while self._at < len(self.text) and not self.stopped:
            char = self.text[self._at]
            self._at += 1
            if self._in_string:
                self._read_string(char)
            elif self._in_tasks and self._depth == 2 and char not in "{]," and not char.isspace():
                self.stopped = True  # not a task
            elif char == '"' and self._depth:
                self._in_string, self._string = True, self._at
            elif char == ":" and self._depth == 1:
                self.keys.append(self._key)
            elif char in "{[":
                self._open(char)
            elif char in "}]":
                self._close(char, rows)
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
                self._key = self.text[self._string : self._at - 1]

    def _open(self, char: str) -> None:
        self._depth += 1
        if self._depth == 1:
            self.stopped = char == "["
        elif char == "[" and self._depth == 2 and self._key == "tasks":
            self._in_tasks = True
        elif self._depth == 3 and self._in_tasks:
            self._start, self.stopped = self._at - 1, char == "["

    def _close(self, char: str, rows: list[Any]) -> None:
        self._depth -= 1
        if self._in_tasks and self._depth == 2:
            try:
                rows.append(json.loads(self.text[self._start : self._at], strict=False, object_pairs_hook=unique_keys))
            except (NotJson, ValueError, RecursionError):
                self.stopped = True
        elif self._depth < (2 if self._in_tasks else 1) or self._depth < 0:
            self.stopped = True  # what follows has no tasks


@dataclass(slots=True)
class EarlyReader:
    """Reads a plan as it is written, and hands out each task that has no fault and waits only for such tasks.

    `may_begin` says of a valid task whether it does no harm if the plan is refused. A task waits for the whole plan if
    it has an unknown key, which may name tasks that are not written yet, or does not say what it depends on, which a
    key of the plan may say. If the plan has such a key before its tasks, all of them wait.
    """

    known: Known
    may_begin: Callable[[Task], bool]
    found: dict[str, Task] = field(default_factory=dict)
    _text: PartialPlan = field(default_factory=PartialPlan)
    _valid: list[dict[str, Any]] = field(default_factory=list)
    _held: list[dict[str, Any]] = field(default_factory=list)
    _unclear: set[str] = field(default_factory=set)
    _stopped: bool = False

    def feed(self, piece: str) -> list[Task]:
        """The tasks that may start now."""
        ready: list[Task] = []
        for row in self._text.feed(piece):
            if not self._stopped:
                self._take(row, ready)
        return ready

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = self._text.stopped = True

    def _take(self, row: Any, ready: list[Task]) -> None:
        """Take a row that is whole; a fault of its own ends it all, since the plan will be refused."""
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
        while self._next(ready):
            pass

    def _next(self, ready: list[Task]) -> bool:
        """Take one of the rows that waited for others to be written; whether there was one."""
        for row in self._held:
            if next(graph_problems([*self._valid, row], self.known), None) is not None:
                continue
            self._held.remove(row)
            self._valid.append(row)
            task = Task.from_dict(row)
            if (
                task.id not in self._unclear
                and self.may_begin(task)
                and all(before in self.found for before in task.depends_on)
            ):
                self.found[task.id] = task
                ready.append(task)
            return True
        return False


@dataclass(slots=True)
class AnswerStream:
    """Hears a reply in pieces, and tells the text of an answer; an empty piece begins it again."""

    tell: OnText
    _text: str = ""
    _at: int = 0
    _told: bool = False
    _over: bool = False

    def hear(self, text: str) -> None:
        """Take the next piece."""
        if not text:
            if self._told:
                self.tell("")
            self._text, self._at, self._told, self._over = "", 0, False, False
            return
        if self._over:
            return
        self._text += text
        if self._at == 0:
            if (start := _START.match(self._text)) is None:
                self._over = len(self._text) > _LONGEST_START
                return
            self._at = start.end()
        self._read()

    def _read(self) -> None:
        pieces: list[str] = []
        while (piece := _PIECE.match(self._text, self._at)) is not None:
            try:
                pieces.append(json.loads(f'"{piece[0]}"'))
            except ValueError:  # not an escape of JSON: the whole text decides
                self._over = True
                break
            self._at = piece.end()
        if self._at < len(self._text) and self._text[self._at] != "\\":
            self._over = True  # the end of the answer, or what cannot stand in it
        if found := "".join(pieces):
            self._told = True
            self.tell(found)
