"""An answer that breaks off at the model's token limit: it is asked to go on, and what stays cut says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.events import Warned

if TYPE_CHECKING:
    from planner.events import Record

GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything."
# In the text itself, so that it is seen wherever the text is: on a terminal, in JSON, in results, by later tasks.
NOTE = "[Cut off here: the model reached its token limit.]"


def marked(text: str, whose: str, model: str, record: Record | None) -> str:
    """The text that stays cut off, with a note at its end; whoever watches the run is told too."""
    if record is not None:
        record(Warned(f"{whose} was cut off: {model} reached its token limit"))
    return f"{_closed(text)}\n\n{NOTE}"


def _closed(text: str) -> str:
    """The text with its last code block closed, so that what follows is not taken for code."""
    fences = [line.lstrip() for line in text.splitlines() if line.lstrip().startswith("```")]
    return f"{text}\n```" if len(fences) % 2 else text
