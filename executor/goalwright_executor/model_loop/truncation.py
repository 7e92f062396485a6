"""Truncated answers: the model is asked to continue, and an answer that stays truncated says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.events import Warned

if TYPE_CHECKING:
    from goalwright_executor.results.memo import Memo

GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything."
# In the text itself, so that everyone sees it: on a terminal, in JSON, in results files, in later tasks.
NOTE = "[Cut off here: the model reached its token limit.]"


def marked(text: str, whose: str, model: str, memo: Memo) -> str:
    """The truncated text with a note at its end; a warning is recorded too."""
    memo.record(Warned(f"{whose} was cut off: {model} reached its token limit"))
    return f"{_closed(text)}\n\n{NOTE}"


def _closed(text: str) -> str:
    """The text with its last code block closed, so that the note is not part of the code."""
    fences = [line.lstrip() for line in text.splitlines() if line.lstrip().startswith("```")]
    return f"{text}\n```" if len(fences) % 2 else text
