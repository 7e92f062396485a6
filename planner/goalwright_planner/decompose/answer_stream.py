"""An answer in the place of a plan, `{"answer": "…"}`, as it is written: its text, piece by piece."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.model import OnText

_START = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*(?:"tasks"\s*:\s*\[\s*\]\s*,\s*)?"answer"\s*:\s*"')
# Longer than what can stand before the answer: a text that has not begun like one by then is a plan.
_LONGEST_START = 200
# What a JSON string may hold, whole: characters, escapes, and both halves of a surrogate pair.
_PIECE = re.compile(
    r'[^"\\\x00-\x1f]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u]'
)


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
