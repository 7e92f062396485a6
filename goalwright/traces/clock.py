"""The time that a run has worked, without its pauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(slots=True)
class Clock:
    """The time a run has worked: it stops between a run's last event and its being resumed, and never runs backwards.

    Where the machine's clock was set back between two events, no time passes between them. Sums are kept to the
    microsecond, as times are recorded: what ended at once must not be told apart by how its time was added up.
    """

    seconds: float = 0.0
    _last: datetime | None = None

    def advance(self, at: datetime, *, resumed: bool = False) -> float:
        """Move to the time of an event and return the seconds worked until then."""
        if self._last is not None and not resumed:
            self.seconds = round(self.seconds + max(0.0, (at - self._last).total_seconds()), 6)
        self._last = at
        return self.seconds
