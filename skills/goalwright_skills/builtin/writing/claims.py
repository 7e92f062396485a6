"""Which task wrote which file of a run: what two tasks write that are not in order would depend on who is faster."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

Before = Callable[[str], bool]


@dataclass(slots=True)
class Claims:
    """The last writer of each path; shared by all tasks of a run."""

    writers: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def rival(self, path: str, task: str, before: Before) -> str | None:
        """The task that wrote a path and neither is this one nor comes before it."""
        writer = self.writers.get(path)
        return writer if writer is not None and writer != task and not before(writer) else None

    def take(self, path: str, task: str) -> None:
        """Note who wrote it."""
        self.writers[path] = task
