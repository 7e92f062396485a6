"""The warnings of a run: each once, and not without end."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalwright_skills.text.plural import counted
from goalwright_skills.text.shorten import clip

_MOST = 100
_LONGEST = 2_000


@dataclass(slots=True)
class RunWarnings:
    """Takes the warnings of a run in order; those beyond the first hundred are counted."""

    _texts: dict[str, None] = field(default_factory=dict)
    _more: int = 0

    def __contains__(self, text: str) -> bool:
        return clip(text, _LONGEST) in self._texts

    def note(self, text: str) -> None:
        """Add a warning, unless it was given before."""
        text = clip(text, _LONGEST)
        if text in self._texts:
            return
        if len(self._texts) < _MOST:
            self._texts[text] = None
        else:
            self._more += 1

    def told(self) -> tuple[str, ...]:
        """The warnings, the first of many."""
        more = (f"and {counted(self._more, 'more warning')}, which the trace has",) if self._more else ()
        return (*self._texts, *more)

    def copy(self) -> RunWarnings:
        """The same warnings, to be continued apart."""
        return RunWarnings(dict(self._texts), self._more)
