"""A plan that is still being written: its tasks are handed out one by one, as soon as each is whole."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from goalwright_planner.json_answer import NotJson
from goalwright_planner.reading.loose_json import unique_keys


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
